// GPUs without hardware: each does one slice at a time, sync ones first, at a speed of its own.
#ifndef LATTICE_TEST_SCHEDULER_SIMULATED_GPUS_H_
#define LATTICE_TEST_SCHEDULER_SIMULATED_GPUS_H_

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "native/scheduler/device_planner.h"

namespace lattice::test {

struct SimulatedImage {
  Lane lane = Lane::kAsync;
  double arrives_ms = 0;
  double ends_ms = -1;
  int runs = 0;
};

struct GpuPlan {
  std::vector<double> image_ms;  // of each GPU, in a full slice
  size_t most = 8;               // images of a slice
  double jitter = 0;             // relative, either way
  int slots = 2;                 // of each lane on each GPU
  // Takes the first free slot it finds, as a pool does, instead of asking the planner.
  bool any_free_slot = false;
};

// Runs images in an event loop of its own, on the planner's advice.
class SimulatedGpus {
 public:
  SimulatedGpus(const GpuPlan& plan, unsigned seed)
      : plan_(plan),
        random_(seed),
        planner_(plan.image_ms.size(), {plan.slots, plan.slots}),
        costs_(plan.image_ms.size()),
        gpus_(plan.image_ms.size()) {}

  // All images end, or a test fails: nothing waits for ever. Returns when the last one ended.
  double Run(std::vector<SimulatedImage>* images) {
    images_ = images;
    size_t next = 0;
    std::vector<size_t> order(images->size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return (*images)[a].arrives_ms < (*images)[b].arrives_ms;
    });
    while (next < order.size() || Busy() || !waiting_[0].empty() || !waiting_[1].empty()) {
      const double arrives = next < order.size() ? (*images)[order[next]].arrives_ms : kNever;
      double event = std::min(arrives, NextEnd());
      if (event == kNever || !(waiting_[0].empty() && waiting_[1].empty())) {
        event = std::min(event, now_ + kReviewMs);
      }
      now_ = std::max(now_, event);
      if (now_ > 1e7) return kNever;
      while (next < order.size() && (*images)[order[next]].arrives_ms <= now_) {
        waiting_[Index((*images)[order[next]].lane)].push_back(order[next]);
        ++next;
      }
      EndSlices();
      StartSlices();
    }
    return now_;
  }

  double now() const { return now_; }
  size_t ImagesOn(size_t gpu) const { return gpus_[gpu].done; }
  // From here on the GPU has another speed.
  std::function<void(SimulatedGpus&)> on_slice;
  void SetSpeed(size_t gpu, double image_ms) { plan_.image_ms[gpu] = image_ms; }

  static constexpr double kNever = std::numeric_limits<double>::infinity();

 private:
  static constexpr double kReviewMs = 5;

  struct Slice {
    uint64_t id;
    Lane lane;
    std::vector<size_t> images;
    double work_ms;
  };
  struct Gpu {
    std::vector<Slice> slices;  // begun or queued behind, in order of start
    size_t current = 0;         // of `slices`, while there are any
    double ends_ms = kNever;
    size_t done = 0;
  };

  static size_t Index(Lane lane) { return lane == Lane::kSync ? 0 : 1; }

  bool Busy() const {
    return std::any_of(gpus_.begin(), gpus_.end(), [](const Gpu& g) { return !g.slices.empty(); });
  }

  double NextEnd() const {
    double end = kNever;
    for (const Gpu& gpu : gpus_) end = std::min(end, gpu.ends_ms);
    return end;
  }

  void EndSlices() {
    for (Gpu& gpu : gpus_) {
      if (gpu.ends_ms > now_) continue;
      const Slice ended = gpu.slices[gpu.current];
      gpu.slices.erase(gpu.slices.begin() + static_cast<std::ptrdiff_t>(gpu.current));
      planner_.End(ended.id, true, now_);
      for (const size_t image : ended.images) (*images_)[image].ends_ms = now_;
      gpu.done += ended.images.size();
      gpu.ends_ms = kNever;
      Continue(&gpu);
      if (on_slice) on_slice(*this);
    }
  }

  void Continue(Gpu* gpu) {
    if (gpu->slices.empty() || gpu->ends_ms != kNever) return;
    const auto sync = std::find_if(gpu->slices.begin(), gpu->slices.end(),
                                   [](const Slice& s) { return s.lane == Lane::kSync; });
    const auto current = sync == gpu->slices.end() ? gpu->slices.begin() : sync;
    gpu->current = static_cast<size_t>(current - gpu->slices.begin());
    gpu->ends_ms = now_ + current->work_ms;
  }

  void StartSlices() {
    for (const Lane lane : {Lane::kSync, Lane::kAsync}) {
      while (StartOne(lane)) {
      }
    }
  }

  bool StartOne(Lane lane) {
    std::deque<size_t>& queue = waiting_[Index(lane)];
    if (queue.empty()) return false;
    const size_t most =
        std::clamp<size_t>((queue.size() + gpus_.size() - 1) / gpus_.size(), 1, plan_.most);
    std::vector<PlannedSlice> slices;
    for (size_t at = 0; at < queue.size() && slices.size() < DevicePlanner::kLookAhead;
         at += most) {
      slices.push_back({&costs_, std::min(most, queue.size() - at)});
    }
    const auto start =
        plan_.any_free_slot ? FreeSlot(lane) : planner_.Choose(lane, slices, 0, now_);
    if (!start) return false;
    Slice slice{0, lane, {}, 0};
    const auto from = queue.begin() + static_cast<std::ptrdiff_t>(start->slice * most);
    const auto to = from + static_cast<std::ptrdiff_t>(slices[start->slice].images);
    slice.images.assign(from, to);
    queue.erase(from, to);
    for (const size_t image : slice.images) ++(*images_)[image].runs;
    slice.id = planner_.Begin(lane, slices[start->slice], start->place, now_);
    std::uniform_real_distribution<double> spread(1 - plan_.jitter, 1 + plan_.jitter);
    // A small slice fills the GPU less well.
    const double full = static_cast<double>(plan_.most);
    const double share = static_cast<double>(slice.images.size()) / full;
    slice.work_ms = plan_.image_ms[start->place] * full * std::pow(share, 0.8) * spread(random_);
    gpus_[start->place].slices.push_back(std::move(slice));
    Continue(&gpus_[start->place]);
    return true;
  }

  std::optional<DevicePlanner::Start> FreeSlot(Lane lane) {
    std::vector<size_t> free;
    for (size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      const auto& slices = gpus_[gpu].slices;
      const auto used = std::count_if(slices.begin(), slices.end(),
                                      [&](const Slice& s) { return s.lane == lane; });
      for (auto slot = used; slot < plan_.slots; ++slot) free.push_back(gpu);
    }
    if (free.empty()) return std::nullopt;
    return DevicePlanner::Start{0, free[random_() % free.size()]};
  }

  GpuPlan plan_;
  std::mt19937 random_;
  DevicePlanner planner_;
  SliceCosts costs_;
  std::vector<Gpu> gpus_;
  std::deque<size_t> waiting_[2];
  std::vector<SimulatedImage>* images_ = nullptr;
  double now_ = 0;
};

}  // namespace lattice::test

#endif  // LATTICE_TEST_SCHEDULER_SIMULATED_GPUS_H_
