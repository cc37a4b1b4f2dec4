// The results that the scheduler delivers after it has released its lock.
#ifndef LATTICE_SCHEDULER_OUTBOX_H_
#define LATTICE_SCHEDULER_OUTBOX_H_

#include <vector>

#include "native/scheduler/live_task.h"

namespace lattice {

// Filled under the scheduler's mutex, emptied without it.
struct Outbox {
  // The task is released without the mutex too: it may hold the last use of an unloaded engine,
  // which takes long to free.
  struct Answer {
    TaskResult result;
    LiveTaskPtr task;
  };

  std::vector<Answer> answers;
  bool device_lost = false;
};

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_OUTBOX_H_
