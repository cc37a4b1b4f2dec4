// An engine that tells which images it saw, in which order, and holds every batch until the test
// releases it.
#ifndef LATTICE_TEST_SCHEDULER_GATED_ENGINE_H_
#define LATTICE_TEST_SCHEDULER_GATED_ENGINE_H_

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "test/native/scheduler/pixel_engine.h"

namespace lattice::test {

// Images are uniformly grey; an image's mark is its grey level, 1 to 255. The box found scores mark
// / 256.
class GatedEngine final : public PixelEngine {
 public:
  // `both`: of each class.
  explicit GatedEngine(const ClassOptions& both, int max_batch = 1, bool open = false)
      : slots_(both.slots), wide_(both.wide), max_batch_(max_batch), open_(open) {
    info_.task = "detect";
    info_.names = {"thing"};
    info_.input_width = kSide;
    info_.input_height = kSide;
    info_.anchors = 1;
    last_.resize(static_cast<size_t>(2 * slots_));
  }

  const ModelInfo& info() const override { return info_; }
  int slots(WorkClass) const override { return slots_; }
  int wide_slots(WorkClass) const override { return wide_; }
  int max_batch(WorkClass) const override { return max_batch_; }

  using PixelEngine::Take;
  Result<std::unique_ptr<EngineInput>> Take(const PictureView& image) override {
    auto input = std::make_unique<Marked>();
    input->width = image.width;
    input->height = image.height;
    input->mark = image.bytes[0];
    const std::lock_guard lock(mutex_);
    prepared_on_[input->mark] = std::this_thread::get_id();
    return std::unique_ptr<EngineInput>(std::move(input));
  }

  Status Run(WorkClass work_class, int slot, Width width,
             std::span<const EngineItem> items) override {
    std::unique_lock lock(mutex_);
    ++running_;
    most_running_ = std::max(most_running_, running_);
    batches_.push_back(items.size());
    widths_.push_back(width);
    std::vector<int>& marks = last_[Row(work_class, slot)];
    marks.clear();
    for (const EngineItem& item : items) {
      marks.push_back(static_cast<Marked*>(item.input)->mark);
      seen_.push_back(marks.back());
      ran_on_[marks.back()] = std::this_thread::get_id();
    }
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_ || permits_ > 0; });
    if (!open_) --permits_;
    --running_;
    return failing_ ? Status(StatusCode::kDetectionFailed, "asked to fail") : Status();
  }

  Detections Detect(WorkClass work_class, int slot, size_t item) override {
    const std::lock_guard lock(mutex_);
    Detections found;
    const float score = static_cast<float>(last_[Row(work_class, slot)][item]) / 256;
    found.boxes.push_back({12, 12, 20, 20, score, 0});
    return found;
  }

  // Lets one batch end.
  void Step() {
    const std::lock_guard lock(mutex_);
    ++permits_;
    changed_.notify_all();
  }

  void OpenGate() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

  void Fail() {
    const std::lock_guard lock(mutex_);
    failing_ = true;
  }

  // Marks in the order of arrival, once at least `count` have come.
  std::vector<int> WaitForImages(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return seen_.size() >= count; });
    return seen_;
  }

  size_t images() {
    const std::lock_guard lock(mutex_);
    return seen_.size();
  }
  // Whether the thread that prepared the image of this mark also ran it.
  bool ran_where_prepared(int mark) {
    const std::lock_guard lock(mutex_);
    return ran_on_.at(mark) == prepared_on_.at(mark);
  }
  int most_running() {
    const std::lock_guard lock(mutex_);
    return most_running_;
  }
  std::vector<size_t> batches() {
    const std::lock_guard lock(mutex_);
    return batches_;
  }
  std::vector<Width> widths() {
    const std::lock_guard lock(mutex_);
    return widths_;
  }

 private:
  static constexpr int kSide = 32;
  struct Marked final : EngineInput {
    int mark = 0;
  };

  size_t Row(WorkClass work_class, int slot) const {
    return static_cast<size_t>(static_cast<int>(work_class) * slots_ + slot);
  }

  ModelInfo info_;
  const int slots_;
  const int wide_;
  const int max_batch_;
  std::vector<std::vector<int>> last_;  // marks of each slot's last batch
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_;
  bool failing_ = false;
  int permits_ = 0;
  int running_ = 0;
  int most_running_ = 0;
  std::vector<int> seen_;
  std::vector<size_t> batches_;
  std::vector<Width> widths_;
  std::map<int, std::thread::id> prepared_on_;
  std::map<int, std::thread::id> ran_on_;
};

}  // namespace lattice::test

#endif  // LATTICE_TEST_SCHEDULER_GATED_ENGINE_H_
