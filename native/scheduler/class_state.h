// The tasks of one class: the queues in which they wait, and the resources that they hold.
#ifndef LATTICE_SCHEDULER_CLASS_STATE_H_
#define LATTICE_SCHEDULER_CLASS_STATE_H_

#include <algorithm>
#include <cstddef>

#include "native/base/mutex.h"
#include "native/engine/engine.h"
#include "native/scheduler/free_slots.h"
#include "native/scheduler/look_ahead.h"
#include "native/scheduler/task_queue.h"

namespace lattice {

// Guarded by the scheduler's mutex, except the conditions.
struct ClassState {
  ClassState(const ClassOptions& options, LookAhead files_ahead, LookAhead pixels_ahead)
      : slots(options.slots), files(files_ahead), pixels(pixels_ahead) {}

  // Tasks whose decoding has not begun.
  size_t waiting() const { return unread.size() + reading + read.size(); }
  // Tasks that a decode thread may begin now.
  size_t Decodable() const {
    return read.empty() ? 0 : std::min(read.size(), pixels.Available(read.front()->pixel_bytes));
  }
  // Whether a batch of so many ready images may be wide: no other image waits. One that is being
  // decoded does not: with two clients it is then as if they took turns.
  bool MayBeWide(size_t images) const { return read.empty() && ready.size() == images; }
  // Batches that may begin now, at most.
  size_t Runnable() const { return std::min(ready.size(), slots.free()); }

  FreeSlots slots;  // of the engines
  TaskQueue unread;
  size_t reading = 0;
  TaskQueue read;  // or without a file
  TaskQueue ready;
  LookAhead files;   // of tasks being read or read
  LookAhead pixels;  // of tasks decoding or decoded; bytes also of those in a batch
  Condition decode_work;
  Condition batch_work;
  size_t told_decodable = 0;  // when threads were last woken for them
  size_t told_runnable = 0;
};

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_CLASS_STATE_H_
