// A slice on its device, and all that it needs there.
#ifndef LATTICE_SCHEDULER_RUNNING_SLICE_H_
#define LATTICE_SCHEDULER_RUNNING_SLICE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "native/base/crash_marker.h"
#include "native/scheduler/task_queue.h"

namespace lattice {

// Images that run together, on the same engine.
using Slice = std::vector<LiveTaskPtr>;

struct ChosenSlice {
  Slice slice;
  size_t place = 0;
  size_t slot = 0;  // taken there, once it is to run
};

// Shared by the thread that runs the slice and those who watch it. What the engine's call reads
// lives as long as this, whatever becomes of the tasks meanwhile.
struct RunningSlice {
  // Takes the inputs of `slice`, and notes its ids in the marker for the calling thread.
  void Start(Slice images, const CrashMarker& marker) {
    slice = std::move(images);
    engine = slice[0]->task.engine;
    std::vector<uint64_t> ids;
    for (const LiveTaskPtr& live : slice) {
      inputs.push_back(live->prepared.input);
      ids.push_back(live->task.id);
    }
    in_hand.emplace(marker, ids);
  }

  std::vector<EngineItem> Items() const {
    std::vector<EngineItem> items;
    for (size_t i = 0; i < slice.size(); ++i) {
      items.push_back({inputs[i].get(), &slice[i]->task.options});
    }
    return items;
  }

  // True for the first who asks: the thread that has come back with the slice, or who gives it up
  // for overdue. The other one must not touch its tasks. Thread-safe.
  bool Claim() { return !claimed_.exchange(true); }

  std::shared_ptr<Engine> engine;  // first: it must outlive the inputs
  Slice slice;
  size_t place = 0;
  uint64_t planned = 0;  // names it in the planner
  const std::thread::id thread = std::this_thread::get_id();
  std::vector<std::shared_ptr<EngineInput>> inputs;
  std::optional<CrashMarker::InHand> in_hand;

 private:
  std::atomic<bool> claimed_ = false;
};

using RunningSlicePtr = std::shared_ptr<RunningSlice>;

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_RUNNING_SLICE_H_
