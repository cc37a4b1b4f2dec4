// Every task's answer, and that there is one only.
#ifndef LATTICE_TEST_SCHEDULER_TASK_RESULTS_H_
#define LATTICE_TEST_SCHEDULER_TASK_RESULTS_H_

#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <mutex>

#include "native/scheduler/image_task.h"

namespace lattice::test {

// Collects results and lets the test wait for them.
class TaskResults {
 public:
  void Add(TaskResult result) {
    const std::lock_guard lock(mutex_);
    const uint64_t id = result.id;
    EXPECT_TRUE(by_id_.emplace(id, std::move(result)).second) << "second answer for " << id;
    changed_.notify_all();
  }

  TaskResult Wait(uint64_t id) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return by_id_.count(id) != 0; });
    return by_id_[id];
  }

  bool Has(uint64_t id) {
    const std::lock_guard lock(mutex_);
    return by_id_.count(id) != 0;
  }

  size_t size() {
    const std::lock_guard lock(mutex_);
    return by_id_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, TaskResult> by_id_;
};

}  // namespace lattice::test

#endif  // LATTICE_TEST_SCHEDULER_TASK_RESULTS_H_
