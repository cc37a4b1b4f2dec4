// The order in which tasks are served.
#ifndef LATTICE_SCHEDULER_TASK_QUEUE_H_
#define LATTICE_SCHEDULER_TASK_QUEUE_H_

#include <set>
#include <utility>

#include "native/scheduler/live_task.h"

namespace lattice {

// The tasks of one class: async ones by priority, then submission; sync ones by submission,
// whatever their priority. Each part of a picture counts as a submission of its own, so that
// tasks that came soon after it do not wait for all of them. Not thread-safe.
class TaskQueue {
 public:
  bool empty() const { return tasks_.empty(); }
  size_t size() const { return tasks_.size(); }
  const LiveTaskPtr& front() const { return *tasks_.begin(); }
  auto begin() const { return tasks_.begin(); }
  auto end() const { return tasks_.end(); }

  // Adds or removes.
  void Set(const LiveTaskPtr& task, bool in) {
    if (in) {
      tasks_.insert(task);
    } else {
      tasks_.erase(task);
    }
  }

 private:
  struct Before {
    bool operator()(const LiveTaskPtr& a, const LiveTaskPtr& b) const {
      if (!a->sync() && a->task.priority != b->task.priority) {
        return a->task.priority > b->task.priority;
      }
      return std::pair(a->sequence + a->part, a->sequence) <
             std::pair(b->sequence + b->part, b->sequence);
    }
  };

  // Priority, sequence and part do not change while a task is in the set.
  std::set<LiveTaskPtr, Before> tasks_;
};

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_TASK_QUEUE_H_
