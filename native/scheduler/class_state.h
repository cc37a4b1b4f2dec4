// Where the tasks of one class wait, and what they hold.
#ifndef LATTICE_SCHEDULER_CLASS_STATE_H_
#define LATTICE_SCHEDULER_CLASS_STATE_H_

#include <algorithm>
#include <cstddef>
#include <vector>

#include "native/base/mutex.h"
#include "native/engine/engine.h"
#include "native/scheduler/look_ahead.h"
#include "native/scheduler/task_queue.h"

namespace lattice {

// Guarded by the scheduler's mutex, except the conditions.
struct ClassState {
  ClassState(const ClassOptions& of, LookAhead files_ahead, LookAhead pixels_ahead)
      : options(of), files(files_ahead), pixels(pixels_ahead) {
    for (int slot = of.slots; slot-- > 0;) free_slots.push_back(slot);
  }

  // Tasks whose decoding has not begun.
  size_t waiting() const { return unread.size() + reading + read.size(); }
  // Tasks that a decode thread may begin now.
  size_t Decodable() const {
    return read.empty() ? 0 : std::min(read.size(), pixels.Available(read.front()->pixel_bytes));
  }
  // Of a batch of so many ready images: wide if no other image waits and the shares are free. An
  // image that is being decoded does not wait: with two clients it is then as if they took turns.
  Width WidthFor(size_t images) const {
    const bool is_free = running + Shares(Width::kWide) <= static_cast<size_t>(options.parallel);
    return is_free && read.empty() && ready.size() == images ? Width::kWide : Width::kOneShare;
  }
  size_t Shares(Width width) const {
    return width == Width::kWide ? static_cast<size_t>(options.wide) : 1;
  }
  // Batches that may begin now, at most.
  size_t Runnable() const {
    const auto parallel = static_cast<size_t>(options.parallel);
    return std::min({ready.size(), parallel - std::min(parallel, running), free_slots.size()});
  }

  const ClassOptions options;
  TaskQueue unread;
  size_t reading = 0;
  TaskQueue read;  // or without a file
  TaskQueue ready;
  size_t running = 0;           // shares of batches in the network
  std::vector<int> free_slots;  // of the engines
  LookAhead files;              // of tasks being read or read
  LookAhead pixels;             // of tasks decoding or decoded; bytes also of those in a batch
  Condition decode_work;
  Condition batch_work;
  size_t told_decodable = 0;  // when threads were last woken for them
  size_t told_runnable = 0;
};

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_CLASS_STATE_H_
