// Which slices have been on their devices for too long. Only arithmetic: no thread, no clock.
#ifndef LATTICE_SCHEDULER_OVERDUE_SLICES_H_
#define LATTICE_SCHEDULER_OVERDUE_SLICES_H_

#include <algorithm>
#include <chrono>
#include <vector>

#include "native/base/stopwatch.h"
#include "native/scheduler/running_slice.h"

namespace lattice {

// Somebody has to look. Between two looks at a slice a tick of time counts at most, so that it
// becomes overdue by nothing in which the whole process stood still. Not thread-safe.
class OverdueSlices {
 public:
  static constexpr std::chrono::seconds kLongestTick{1};
  // A short allowance has short ticks.
  static constexpr int kLeastTicks = 8;

  void Begin(RunningSlicePtr slice, Clock::duration allowed, Clock::time_point now) {
    const auto tick = std::min<Clock::duration>(kLongestTick, allowed / kLeastTicks);
    watched_.push_back({std::move(slice), tick, allowed, now});
    next_look_ = std::min(next_look_, now + tick);
  }

  // One that is not watched is passed over.
  void End(const RunningSlicePtr& slice) {
    std::erase_if(watched_, [&](const Watched& each) { return each.slice == slice; });
  }

  // Those on this device, which are not watched any more.
  std::vector<RunningSlicePtr> TakeAt(size_t place) {
    std::vector<RunningSlicePtr> taken;
    std::erase_if(watched_, [&](const Watched& each) {
      if (each.slice->place != place) return false;
      taken.push_back(each.slice);
      return true;
    });
    return taken;
  }

  bool empty() const { return watched_.empty(); }

  // When to look; max: not before the next Begin. Ends do not put it off, so that slices that come
  // and go without a break are looked after once a tick, and nothing is done at each.
  Clock::time_point next_look() const { return next_look_; }

  // Those that are overdue, which are not watched any more.
  std::vector<RunningSlicePtr> Look(Clock::time_point now) {
    std::vector<RunningSlicePtr> overdue;
    next_look_ = Clock::time_point::max();
    for (Watched& each : watched_) {
      each.left -= std::min(now - each.looked, each.tick);
      each.looked = now;
      if (each.left <= Clock::duration::zero()) {
        overdue.push_back(each.slice);
      } else {
        next_look_ = std::min(next_look_, now + each.tick);
      }
    }
    std::erase_if(watched_,
                  [](const Watched& each) { return each.left <= Clock::duration::zero(); });
    return overdue;
  }

 private:
  struct Watched {
    RunningSlicePtr slice;
    Clock::duration tick;
    Clock::duration left;
    Clock::time_point looked;
  };

  std::vector<Watched> watched_;
  Clock::time_point next_look_ = Clock::time_point::max();
};

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_OVERDUE_SLICES_H_
