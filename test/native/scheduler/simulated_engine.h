// An engine on a simulated device: it runs one batch at a time, can be held, stalled and lost.
#ifndef LATTICE_TEST_SCHEDULER_SIMULATED_ENGINE_H_
#define LATTICE_TEST_SCHEDULER_SIMULATED_ENGINE_H_

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "test/native/scheduler/pixel_engine.h"

namespace lattice::test {

// An image's mark is its first pixel as a number. The box found carries it as its score, / 2^20.
class SimulatedEngine final : public PixelEngine {
 public:
  struct Options {
    double batch_ms = 0.2;
    int slots = 2;  // of each class
    int max_batch = 4;
    double stalls = 0;                   // share of batches that take 10 ms more
    bool keeps_pixels = false;           // inputs hold their picture, as a GPU's do
    std::set<int> killers = {};          // marks that lose the device
    std::function<void()> on_free = {};  // called by the destructor
  };

  SimulatedEngine(Options options, unsigned seed) : options_(std::move(options)), random_(seed) {
    info_.task = "detect";
    info_.names = {"thing"};
    info_.input_width = info_.input_height = 32;
    info_.anchors = 1;
    for (auto& slots : last_) slots.resize(static_cast<size_t>(options_.slots));
  }
  ~SimulatedEngine() override {
    if (options_.on_free) options_.on_free();
  }

  const ModelInfo& info() const override { return info_; }
  int slots(WorkClass) const override { return options_.slots; }
  int wide_slots(WorkClass) const override { return 1; }
  int max_batch(WorkClass) const override { return options_.max_batch; }

  using PixelEngine::Take;
  Result<std::unique_ptr<EngineInput>> Take(const PictureView& image) override {
    auto input = std::make_unique<Input>();
    input->width = image.width;
    input->height = image.height;
    input->mark = image.bytes[0] | image.bytes[1] << 8 | image.bytes[2] << 16;
    const std::lock_guard lock(mutex_);
    ++prepared_;
    return std::unique_ptr<EngineInput>(std::move(input));
  }

  Result<EngineInputs> Take(Image picture, std::span<const Rect> parts) override {
    const auto kept = options_.keeps_pixels
                          ? std::make_shared<const KeptPicture>(picture.data.size(), &pixels_)
                          : nullptr;
    auto inputs = PixelEngine::Take(std::move(picture), parts);
    for (const auto& input : *inputs) {
      static_cast<Input&>(*input).picture = kept;
      if (kept && parts.size() > 1) input->shared_bytes = kept->bytes;
    }
    return inputs;
  }

  Status Run(WorkClass work_class, int slot, Width /*width*/,
             std::span<const EngineItem> items) override {
    std::unique_lock lock(mutex_);
    batches_.push_back(items.size());
    std::vector<int>& marks = Last(work_class, slot);
    marks.clear();
    for (const EngineItem& item : items) {
      marks.push_back(static_cast<Input*>(item.input)->mark);
      seen_.push_back(marks.back());
    }
    changed_.notify_all();
    changed_.wait(lock, [&] { return !busy_ && (!held_ || lost_); });
    if (!lost_) {
      busy_ = true;
      double ms = options_.batch_ms;
      if (std::bernoulli_distribution(options_.stalls)(random_)) ms += 10;
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms));
      lock.lock();
      busy_ = false;
      for (const int mark : marks) lost_ |= options_.killers.contains(mark);
      changed_.notify_all();
    }
    return lost_ ? Status(StatusCode::kGpuLost, "a simulated fault") : Status();
  }

  Detections Detect(WorkClass work_class, int slot, size_t item) override {
    const std::lock_guard lock(mutex_);
    Detections found;
    const int mark = Last(work_class, slot)[item];
    found.boxes.push_back({12, 12, 20, 20, static_cast<float>(mark) / (1 << 20), 0});
    return found;
  }

  // Batches that come stay until Release.
  void Hold() { Set(&held_, true); }
  void Release() { Set(&held_, false); }

  // Marks in the order of arrival, once at least `count` have come.
  std::vector<int> WaitForImages(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return seen_.size() >= count; });
    return seen_;
  }
  // Images of each batch so far.
  std::vector<size_t> batches() {
    const std::lock_guard lock(mutex_);
    return batches_;
  }
  size_t prepared() {
    const std::lock_guard lock(mutex_);
    return prepared_;
  }
  // Bytes of pictures that inputs hold, and the most that they held together.
  size_t pixel_bytes() const { return pixels_.bytes; }
  size_t most_pixel_bytes() const { return pixels_.most; }

 private:
  struct Pixels {
    std::atomic<size_t> bytes = 0;
    std::atomic<size_t> most = 0;
  };
  struct KeptPicture {
    KeptPicture(size_t size, Pixels* all) : bytes(size), of(all) {
      const size_t now = of->bytes += bytes;
      size_t most = of->most;
      while (now > most && !of->most.compare_exchange_weak(most, now)) {
      }
    }
    ~KeptPicture() { of->bytes -= bytes; }

    const size_t bytes;
    Pixels* const of;
  };
  struct Input final : EngineInput {
    size_t pixel_bytes() const override { return picture ? picture->bytes - shared_bytes : 0; }

    int mark = 0;
    std::shared_ptr<const KeptPicture> picture;
  };

  std::vector<int>& Last(WorkClass work_class, int slot) {
    return last_[static_cast<size_t>(work_class)][static_cast<size_t>(slot)];
  }

  void Set(bool* flag, bool value) {
    const std::lock_guard lock(mutex_);
    *flag = value;
    changed_.notify_all();
  }

  ModelInfo info_;
  const Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::mt19937 random_;
  std::vector<std::vector<int>> last_[2];  // marks of each slot's last batch, by class
  std::vector<int> seen_;
  std::vector<size_t> batches_;
  Pixels pixels_;
  size_t prepared_ = 0;
  bool busy_ = false;
  bool held_ = false;
  bool lost_ = false;
};

}  // namespace lattice::test

#endif  // LATTICE_TEST_SCHEDULER_SIMULATED_ENGINE_H_
