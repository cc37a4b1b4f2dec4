// An engine of several GPUs that are not there: each runs one slice at a time at a speed of its
// own, can be stopped, stalled and lost, and can keep its callers.
#ifndef LATTICE_TEST_SCHEDULER_SIMULATED_ENGINE_H_
#define LATTICE_TEST_SCHEDULER_SIMULATED_ENGINE_H_

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "native/engine/engine.h"

namespace lattice::test {

// An image's mark is its first pixel as a number. The box found carries it as its score, / 2^20.
class SimulatedEngine final : public Engine {
 public:
  struct Options {
    std::vector<double> slice_ms = {};  // of each GPU; their indices are 10, 11, ...
    int slots = 2;                      // of each lane on each GPU
    int max_batch = 4;
    double stalls = 0;            // share of slices that take 10 ms more
    bool binds = false;           // inputs lie on the GPUs in turn, those that are lost left out
    bool keeps_pixels = false;    // inputs hold their pixels, as a GPU's do
    std::set<int> killers = {};   // marks that take a GPU down with them
    std::set<int> unstable = {};  // places that are lost after some slices
    std::optional<Clock::duration> longest_run = {};
    double hangs = 0;  // share of slices whose call returns only once all are let go
  };

  SimulatedEngine(const Options& options, unsigned seed) : options_(options), random_(seed) {
    info_.task = "detect";
    info_.names = {"thing"};
    info_.input_width = info_.input_height = 32;
    info_.anchors = 1;
    for (size_t place = 0; place < options.slice_ms.size(); ++place) {
      gpus_.emplace_back().slices_left = 3 + static_cast<int>(random_() % 20);
    }
    for (auto& lane : last_) lane.resize(gpus_.size() * static_cast<size_t>(options.slots));
  }

  static int IndexOf(size_t place) { return 10 + static_cast<int>(place); }

  const ModelInfo& info() const override { return info_; }
  std::vector<EngineDevice> devices() const override {
    std::vector<EngineDevice> all;
    for (size_t place = 0; place < gpus_.size(); ++place) {
      all.push_back({IndexOf(place), "simulated"});
    }
    return all;
  }
  int slots(Lane) const override { return options_.slots * static_cast<int>(gpus_.size()); }
  int max_batch(Lane) const override { return options_.max_batch; }
  std::pmr::memory_resource* pixel_memory() override { return std::pmr::new_delete_resource(); }
  std::optional<Clock::duration> longest_run() const override { return options_.longest_run; }

  Result<std::unique_ptr<EngineInput>> Prepare(Image image) override {
    auto input = std::make_unique<Input>();
    input->mark = image.data[0] | image.data[1] << 8 | image.data[2] << 16;
    if (options_.keeps_pixels) input->Keep(image.data.size(), &pixels_);
    const std::lock_guard lock(mutex_);
    ++prepared_;
    for (size_t tries = 0; options_.binds && tries < gpus_.size(); ++tries) {
      const size_t place = next_bound_++ % gpus_.size();
      input->bound = IndexOf(place);
      if (!gpus_[place].lost) break;
    }
    return std::unique_ptr<EngineInput>(std::move(input));
  }

  Status Run(Lane lane, int slot, std::span<const EngineItem> items) override {
    const size_t place = static_cast<size_t>(slot / options_.slots);
    Gpu& gpu = gpus_[place];
    std::unique_lock lock(mutex_);
    std::vector<int>& marks = last_[static_cast<size_t>(lane)][static_cast<size_t>(slot)];
    marks.clear();
    for (const EngineItem& item : items) {
      const auto* input = static_cast<Input*>(item.input);
      if (input->bound >= 0 && input->bound != IndexOf(place)) ++misplaced_;
      marks.push_back(input->mark);
      seen_.emplace_back(place, input->mark);
      ++runs_[input->mark];
    }
    if (!let_go_ && std::bernoulli_distribution(options_.hangs)(random_)) gpu.stands = true;
    changed_.notify_all();
    if (gpu.stands) Stand(gpu, items, lock);
    changed_.wait(lock, [&] { return !gpu.busy && (!gpu.held || gpu.lost); });
    if (!gpu.lost) {
      gpu.busy = true;
      double ms = options_.slice_ms[place];
      if (std::bernoulli_distribution(options_.stalls)(random_)) ms += 10;
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms));
      lock.lock();
      gpu.busy = false;
      for (const int mark : marks) gpu.lost |= options_.killers.count(mark) != 0;
      gpu.lost |= options_.unstable.count(static_cast<int>(place)) != 0 && --gpu.slices_left <= 0;
      changed_.notify_all();
    }
    return gpu.lost ? Status(StatusCode::kGpuLost, "a simulated fault") : Status();
  }

  Detections Detect(Lane lane, int slot, size_t item) override {
    const std::lock_guard lock(mutex_);
    const auto& marks = last_[static_cast<size_t>(lane)][static_cast<size_t>(slot)];
    Detections found;
    found.boxes.push_back({12, 12, 20, 20, static_cast<float>(marks[item]) / (1 << 20), 0});
    return found;
  }

  // Slices that come stay until Release.
  void Hold(size_t place) { Set(&gpus_[place].held, true); }
  void Release(size_t place) { Set(&gpus_[place].held, false); }
  // Everything there fails, now and from then on.
  void Lose(size_t place) { Set(&gpus_[place].lost, true); }
  // Calls there do not return, whatever their patience, until LetGo.
  void Stand(size_t place) { Set(&gpus_[place].stands, true); }
  // Calls return, and do so from then on.
  void LetGo() {
    const std::lock_guard lock(mutex_);
    let_go_ = true;
    for (Gpu& gpu : gpus_) gpu.stands = false;
    changed_.notify_all();
  }
  // Calls that stand.
  size_t standing() {
    const std::lock_guard lock(mutex_);
    return standing_;
  }
  size_t WaitForStanding(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return standing_ == count; });
    return standing_;
  }

  // (place, mark) in the order of arrival, once at least `count` have come.
  std::vector<std::pair<size_t, int>> WaitForImages(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return seen_.size() >= count; });
    return seen_;
  }
  std::map<int, int> runs() {
    const std::lock_guard lock(mutex_);
    return runs_;
  }
  size_t prepared() {
    const std::lock_guard lock(mutex_);
    return prepared_;
  }
  size_t lost() {
    const std::lock_guard lock(mutex_);
    size_t lost = 0;
    for (const Gpu& gpu : gpus_) lost += gpu.lost ? 1 : 0;
    return lost;
  }
  // Bytes of pixels that inputs hold, and the most that they held together.
  size_t pixel_bytes() const { return pixels_.bytes; }
  size_t most_pixel_bytes() const { return pixels_.most; }
  // Images that ran on another GPU than the one that they lay on.
  size_t misplaced() {
    const std::lock_guard lock(mutex_);
    return misplaced_;
  }

 private:
  struct Pixels {
    std::atomic<size_t> bytes = 0;
    std::atomic<size_t> most = 0;
  };
  struct Input final : EngineInput {
    ~Input() override {
      if (of != nullptr) of->bytes -= kept;
    }
    int gpu() const override { return bound; }
    size_t pixel_bytes() const override { return kept; }
    void Keep(size_t bytes, Pixels* all) {
      kept = bytes;
      of = all;
      const size_t now = all->bytes += bytes;
      size_t most = all->most;
      while (now > most && !all->most.compare_exchange_weak(most, now)) {
      }
    }

    int mark = 0;
    int bound = -1;
    size_t kept = 0;
    Pixels* of = nullptr;
  };
  struct Gpu {
    bool busy = false;
    bool held = false;
    bool stands = false;
    bool lost = false;
    int slices_left = 0;
  };

  // Reads what the call was given to the end, as a driver may.
  void Stand(const Gpu& gpu, std::span<const EngineItem> items,
             std::unique_lock<std::mutex>& lock) {
    ++standing_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !gpu.stands; });
    for (const EngineItem& item : items) {
      EXPECT_GT(static_cast<Input*>(item.input)->mark, 0);
      EXPECT_GE(item.options->confidence, 0);
    }
    --standing_;
    changed_.notify_all();
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
  std::deque<Gpu> gpus_;
  std::vector<std::vector<int>> last_[2];  // marks of each slot's last slice, by lane
  std::vector<std::pair<size_t, int>> seen_;
  std::map<int, int> runs_;
  Pixels pixels_;
  size_t prepared_ = 0;
  size_t next_bound_ = 0;
  size_t misplaced_ = 0;
  size_t standing_ = 0;
  bool let_go_ = false;
};

}  // namespace lattice::test

#endif  // LATTICE_TEST_SCHEDULER_SIMULATED_ENGINE_H_
