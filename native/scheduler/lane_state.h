// Where the tasks of one lane wait, in the order in which they pass.
#ifndef LATTICE_SCHEDULER_LANE_STATE_H_
#define LATTICE_SCHEDULER_LANE_STATE_H_

#include <condition_variable>
#include <cstddef>
#include <deque>

#include "native/engine/engine.h"
#include "native/scheduler/slot_pool.h"
#include "native/scheduler/task_queue.h"

namespace lattice {

// Guarded by the scheduler's mutex.
struct LaneState {
  LaneState(const LaneOptions& lane, size_t devices)
      : options(lane), slice_work(devices), slots(static_cast<size_t>(lane.slots), devices) {}

  // Tasks whose decoding has not begun.
  size_t waiting() const { return unread.size() + reading + read.size(); }

  const LaneOptions options;
  TaskQueue unread;
  size_t reading = 0;
  TaskQueue read;  // or without a file
  std::condition_variable decode_work;
  TaskQueue ready;                                 // for the network
  std::deque<std::condition_variable> slice_work;  // of each device
  SlotPool slots;
  int slices_of_decoders = 0;  // that run on decode threads
};

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_LANE_STATE_H_
