// Freeing an engine takes long: the scheduler's lock must be free meanwhile.
#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "test/native/scheduler/simulated_schedule.h"

namespace lattice {
namespace {

using namespace std::chrono_literals;

class SchedulerEngineReleaseTest : public test::SimulatedSchedule {
 protected:
  void SetUp() override {
    Start({.slots = 1, .max_batch = 1}, 1, {});
    engine_->Hold();
    for (uint64_t id = 1; id <= 4; ++id) Submit(Task(id));  // all that may be decoded
    engine_->WaitForImages(1);
  }

  // A task that waits, and is alone in using its engine.
  ImageTask Unloaded(uint64_t id) {
    ImageTask task = Task(id);
    task.engine = std::make_shared<test::SimulatedEngine>(
        test::SimulatedEngine::Options{.on_free =
                                           [this] {
                                             const auto asked = asking_ =
                                                 std::async(std::launch::async,
                                                            [this] { (void)scheduler_->stats(); });
                                             const auto answer = asked.wait_for(2s);
                                             freed_.set_value(answer);
                                           }},
        1);
    return task;
  }

  std::shared_future<void> asking_;
  std::promise<std::future_status> freed_;
};

TEST_F(SchedulerEngineReleaseTest, OnCancel) {
  Submit(Unloaded(10));
  scheduler_->Cancel({{10}});
  EXPECT_EQ(freed_.get_future().get(), std::future_status::ready);
}

TEST_F(SchedulerEngineReleaseTest, WhenTheDeadlineHasPassed) {
  ImageTask task = Unloaded(10);
  task.deadline_ms = 20;
  Submit(std::move(task));
  std::this_thread::sleep_for(30ms);
  engine_->Release();
  EXPECT_EQ(freed_.get_future().get(), std::future_status::ready);
}

}  // namespace
}  // namespace lattice
