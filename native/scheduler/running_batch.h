// A batch in the network.
#ifndef LATTICE_SCHEDULER_RUNNING_BATCH_H_
#define LATTICE_SCHEDULER_RUNNING_BATCH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "native/base/crash_marker.h"
#include "native/scheduler/free_slots.h"
#include "native/scheduler/live_task.h"

namespace lattice {

// Belongs to the thread that runs it.
struct RunningBatch {
  // `images` are of one engine and class. Notes their ids in the marker for the calling thread.
  RunningBatch(std::vector<LiveTaskPtr> images, SlotRange taken, Width batch_width,
               const CrashMarker& marker)
      : engine(images[0]->task.engine),
        work_class(images[0]->task.work_class),
        slots(taken),
        width(batch_width),
        tasks(std::move(images)) {
    std::vector<uint64_t> ids;
    for (const LiveTaskPtr& live : tasks) ids.push_back(live->task.id);
    in_hand.emplace(marker, ids);
  }

  std::vector<EngineItem> Items() const {
    std::vector<EngineItem> items;
    for (const LiveTaskPtr& live : tasks) {
      items.push_back({live->input.get(), &live->task.options});
    }
    return items;
  }

  const std::shared_ptr<Engine> engine;  // first: it must outlive the inputs
  const WorkClass work_class;
  const SlotRange slots;
  const Width width;
  const std::vector<LiveTaskPtr> tasks;
  std::optional<CrashMarker::InHand> in_hand;
  bool on_decode_thread = false;
};

using RunningBatchPtr = std::unique_ptr<RunningBatch>;

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_RUNNING_BATCH_H_
