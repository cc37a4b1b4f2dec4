// Sync tasks whose deadline cannot be met: what they must not cost.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "test/native/scheduler/simulated_schedule.h"

namespace lattice {
namespace {

using test::SimulatedEngine;
using namespace std::chrono_literals;

class SchedulerDeadlinesTest : public test::SimulatedSchedule {
 protected:
  void Start(double batch_ms) {
    SimulatedEngine::Options options;
    options.batch_ms = batch_ms;
    options.slots = 1;
    options.max_batch = 1;
    SimulatedSchedule::Start(options, 1, {});
  }

  ImageTask Urgent(uint64_t id, double deadline_ms, WorkClass work_class = WorkClass::kSync) const {
    ImageTask task = Task(id, work_class);
    task.deadline_ms = deadline_ms;
    return task;
  }

  // The scheduler has measured a sync batch.
  void Measure() {
    Submit(Task(1000, WorkClass::kSync));
    EXPECT_EQ(CodeOf(1000), StatusCode::kOk);
  }
};

TEST_F(SchedulerDeadlinesTest, WhatCannotBeDoneInTimeIsNotDecoded) {
  Start(300);
  Measure();
  Submit(Urgent(1, 200));
  const TaskResult result = results_->Wait(1);
  EXPECT_EQ(result.status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_LT(result.total_ms, 200);
  EXPECT_EQ(engine_->prepared(), 1u);
  Submit(Urgent(2, 10'000));
  EXPECT_EQ(CodeOf(2), StatusCode::kOk);
}

TEST_F(SchedulerDeadlinesTest, WhatCannotBeDoneInTimeDoesNotRun) {
  Start(300);
  Measure();
  Submit(Task(1, WorkClass::kSync));
  engine_->WaitForImages(2);
  Submit(Urgent(2, 500));  // 200 ms are left once the first is done
  Submit(Task(3, WorkClass::kSync));
  EXPECT_EQ(CodeOf(2), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(CodeOf(3), StatusCode::kOk);
  scheduler_->Close();
  EXPECT_EQ(engine_->WaitForImages(3), (std::vector<int>{1000, 1, 3}));
}

TEST_F(SchedulerDeadlinesTest, AnAsyncTaskRunsUnlessItsDeadlineHasPassed) {
  Start(100);
  Measure();
  Submit(Urgent(1, 90, WorkClass::kAsync));
  engine_->WaitForImages(2);
  Submit(Urgent(2, 20, WorkClass::kAsync));
  EXPECT_EQ(CodeOf(1), StatusCode::kOk);
  EXPECT_EQ(CodeOf(2), StatusCode::kDeadlineExceeded);
  scheduler_->Close();
  EXPECT_EQ(engine_->WaitForImages(2), (std::vector<int>{1000, 1}));
}

TEST_F(SchedulerDeadlinesTest, ANetworkThatWasSlowOnceIsTriedAgain) {
  Start(0.1);
  engine_->Hold();
  Submit(Task(1000, WorkClass::kSync));
  engine_->WaitForImages(1);
  std::this_thread::sleep_for(500ms);
  engine_->Release();
  EXPECT_EQ(CodeOf(1000), StatusCode::kOk);
  uint64_t id = 1;
  Submit(Urgent(id, 200));
  EXPECT_EQ(CodeOf(id), StatusCode::kDeadlineExceeded);
  do {
    Submit(Urgent(++id, 200));
  } while (CodeOf(id) != StatusCode::kOk && id < 40);
  EXPECT_EQ(CodeOf(id), StatusCode::kOk);
}

}  // namespace
}  // namespace lattice
