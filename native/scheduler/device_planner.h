// Which waiting slice goes to which GPU, and when. Only arithmetic: no thread, no clock.
#ifndef LATTICE_SCHEDULER_DEVICE_PLANNER_H_
#define LATTICE_SCHEDULER_DEVICE_PLANNER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "native/engine/engine.h"
#include "native/scheduler/slice_costs.h"

namespace lattice {

// A set of places; bit i is place i, the engine's i-th device.
using PlaceSet = uint64_t;
inline constexpr size_t kMostPlaces = 64;

// Images that would run together. `costs` must outlive the planner's use of it.
struct PlannedSlice {
  SliceCosts* costs = nullptr;
  size_t images = 1;
  PlaceSet places = ~PlaceSet{0};  // where it may run
};

// Slices wait in one order a lane and are bound to a GPU only when they start. Each goes where its
// predicted finish is earliest, counting what runs on that GPU in both lanes; where that is a busy
// GPU, the slice waits for it and counts as its load for the slices behind it. So a slow GPU that
// is free gets a slice exactly when the fast ones would finish it later, and never the tail of what
// waits. A slice that overruns its prediction makes its GPU seem the farther away the longer it
// hangs.
//
// Async slices start in their order, sync ones as the reckoning has them. An async slice does not
// start where it would end kFarLater times as late as at the head of the order, and a GPU that
// others left idle for kProbeAfterMs gets one of many even where it seems slow: its speed may have
// changed.
//
// A GPU is reckoned to do one slice at a time; a sync slice passes async ones that have not begun.
// Not thread-safe. Times are milliseconds of any steady clock.
class DevicePlanner {
 public:
  static constexpr size_t kLookAhead = 64;
  static constexpr double kFarLater = 8;
  static constexpr double kProbeAfterMs = 1000;

  // Slices that run at the same time on one place.
  struct Slots {
    int sync = 1;
    int async = 1;
  };
  struct Start {
    size_t slice;
    size_t place;
  };

  // 1 to kMostPlaces places.
  DevicePlanner(size_t places, Slots slots);

  // The slice of `waiting` to start now; none when those that could start had better wait. `more`
  // further slices like the last one are on their way. Looks no further than kLookAhead slices.
  // Slices that may run on no place that is left are passed over.
  std::optional<Start> Choose(Lane lane, std::span<const PlannedSlice> waiting, size_t more,
                              double now_ms);

  // Returns what names the running slice in End.
  uint64_t Begin(Lane lane, const PlannedSlice& slice, size_t place, double now_ms);
  // What failed says nothing about speed.
  void End(uint64_t running, bool measure, double now_ms);

  // For good.
  void Lose(size_t place) { left_ &= ~(PlaceSet{1} << place); }
  PlaceSet left() const { return left_; }
  bool HasFree(Lane lane) const;
  // Places in `places` where nothing of the lane runs.
  size_t Idle(Lane lane, PlaceSet places) const;

 private:
  struct Running {
    uint64_t id;
    Lane lane;
    PlannedSlice slice;
    double predicted_ms;
    double since_ms;         // when it came first on its GPU, as far as that can be told
    double overtook_ms = 0;  // spent on others since then
  };
  struct Place {
    std::vector<Running> running;  // by start
    double idle_since_ms = 0;
  };
  struct Best {
    size_t place;
    double finish_ms;  // from now
  };

  bool Has(PlaceSet places, size_t place) const { return ((places & left_) >> place & 1) != 0; }
  size_t RunningIn(Lane lane, size_t place) const;
  size_t SlotsOf(Lane lane) const;
  double AheadMs(Lane lane, const Place& place, double now_ms) const;
  std::optional<Best> BestFor(const PlannedSlice& slice, std::span<const double> ahead) const;
  std::optional<size_t> ProbeFor(const PlannedSlice& slice, double now_ms) const;

  const Slots slots_;
  std::vector<Place> places_;
  PlaceSet left_;
  uint64_t next_ = 1;
  // Scratch of Choose: milliseconds of work before a slice that starts now, and with those planned.
  std::vector<double> ahead_;
  std::vector<double> planned_;
};

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_DEVICE_PLANNER_H_
