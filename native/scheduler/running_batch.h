// A batch in the network, and all that the engine reads meanwhile.
#ifndef LATTICE_SCHEDULER_RUNNING_BATCH_H_
#define LATTICE_SCHEDULER_RUNNING_BATCH_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "native/base/crash_marker.h"
#include "native/scheduler/task_queue.h"

namespace lattice {

// Belongs to the thread that runs it, except `looked` and `ran`, which the scheduler's mutex
// guards. Shared with those who watch it: what the engine reads lives until its call returns.
struct RunningBatch {
  // Takes the inputs of `images`, which are of one engine and class, and notes their ids in the
  // marker for the calling thread.
  RunningBatch(std::vector<LiveTaskPtr> images, int slot_number, Width batch_width,
               const CrashMarker& marker)
      : engine(images[0]->task.engine),
        work_class(images[0]->task.work_class),
        slot(slot_number),
        width(batch_width),
        tasks(std::move(images)) {
    std::vector<uint64_t> ids;
    for (const LiveTaskPtr& live : tasks) {
      inputs.push_back(live->prepared.input);
      ids.push_back(live->task.id);
    }
    in_hand.emplace(marker, ids);
  }

  std::vector<EngineItem> Items() const {
    std::vector<EngineItem> items;
    for (size_t i = 0; i < tasks.size(); ++i) {
      items.push_back({inputs[i].get(), &tasks[i]->task.options});
    }
    return items;
  }

  // True for the first caller only: the thread whose engine call has returned, or Close, which does
  // not wait for that thread. Thread-safe.
  bool Claim() { return !claimed_.exchange(true); }

  const std::shared_ptr<Engine> engine;  // first: it must outlive the inputs
  const WorkClass work_class;
  const int slot;
  const Width width;
  const std::thread::id thread = std::this_thread::get_id();
  const std::vector<LiveTaskPtr> tasks;
  std::vector<std::shared_ptr<EngineInput>> inputs;
  std::optional<CrashMarker::InHand> in_hand;
  bool on_decode_thread = false;
  Clock::time_point looked = Clock::now();
  Clock::duration ran{0};  // as the deadline thread counts

 private:
  std::atomic<bool> claimed_ = false;
};

using RunningBatchPtr = std::shared_ptr<RunningBatch>;

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_RUNNING_BATCH_H_
