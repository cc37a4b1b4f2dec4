// An engine that tells which images it saw, in which order, and holds every slice until the test
// lets it go.
#ifndef LATTICE_TEST_SCHEDULER_GATED_ENGINE_H_
#define LATTICE_TEST_SCHEDULER_GATED_ENGINE_H_

#include <cmath>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "native/engine/engine.h"

namespace lattice::test {

// Images are uniformly grey; an image's mark is its grey level, 1 to 255. The box found scores mark
// / 256.
class GatedEngine final : public Engine {
 public:
  // `slots` in each lane.
  explicit GatedEngine(int slots, int max_batch = 1, bool open = false)
      : slots_(slots), max_batch_(max_batch), open_(open) {
    info_.task = "detect";
    info_.names = {"thing"};
    info_.input_width = kSide;
    info_.input_height = kSide;
    info_.anchors = 1;
    outputs_.resize(static_cast<size_t>(2 * slots * max_batch), std::vector<float>(5));
  }

  const ModelInfo& info() const override { return info_; }
  int slots(Lane) const override { return slots_; }
  int max_batch() const override { return max_batch_; }

  Status Run(Lane lane, int slot, std::span<EngineItem> items) override {
    std::unique_lock lock(mutex_);
    ++running_;
    most_running_ = std::max(most_running_, running_);
    batches_.push_back(items.size());
    const int row = static_cast<int>(lane) * slots_ + slot;
    for (size_t i = 0; i < items.size(); ++i) {
      const float level = items[i].input[kSide * kSide / 2 + kSide / 2];
      const int mark = static_cast<int>(std::lround(level * 255));
      seen_.push_back(mark);
      auto& output = outputs_[static_cast<size_t>(row * max_batch_) + i];
      output = {16, 16, 8, 8, static_cast<float>(mark) / 256};
      items[i].output = output.data();
    }
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_ || permits_ > 0; });
    if (!open_) --permits_;
    --running_;
    return failing_ ? Status(StatusCode::kDetectionFailed, "asked to fail") : Status();
  }

  // Lets one slice end.
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
  int most_running() {
    const std::lock_guard lock(mutex_);
    return most_running_;
  }
  std::vector<size_t> batches() {
    const std::lock_guard lock(mutex_);
    return batches_;
  }

 private:
  static constexpr int kSide = 32;

  ModelInfo info_;
  const int slots_;
  const int max_batch_;
  std::vector<std::vector<float>> outputs_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_;
  bool failing_ = false;
  int permits_ = 0;
  int running_ = 0;
  int most_running_ = 0;
  std::vector<int> seen_;
  std::vector<size_t> batches_;
};

}  // namespace lattice::test

#endif  // LATTICE_TEST_SCHEDULER_GATED_ENGINE_H_
