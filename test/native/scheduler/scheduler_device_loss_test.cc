// The scheduler over a device that faults.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <thread>

#include "test/native/scheduler/simulated_schedule.h"

namespace lattice {
namespace {

using test::SimulatedEngine;
using namespace std::chrono_literals;

class SchedulerDeviceLossTest : public test::SimulatedSchedule {
 protected:
  void Start(SimulatedEngine::Options options, unsigned seed = 1, int decode_threads = 1) {
    SimulatedSchedule::Start(options, seed, {.decode_threads = decode_threads});
  }

  static WorkClass ClassOf(uint64_t id) { return static_cast<WorkClass>(id % 2); }
};

TEST_F(SchedulerDeviceLossTest, AFaultAnswersEveryTaskAndIsReportedOnce) {
  Start({.killers = {20}});
  for (uint64_t id = 1; id <= 40; ++id) Submit(Task(id, ClassOf(id)));
  for (uint64_t id = 1; id <= 40; ++id) {
    const TaskResult result = results_->Wait(id);
    EXPECT_TRUE(result.status.ok() || result.status.code() == StatusCode::kGpuLost) << id;
  }
  EXPECT_EQ(CodeOf(20), StatusCode::kGpuLost);
  for (uint64_t id = 41; id <= 50; ++id) {
    Submit(Task(id, ClassOf(id)));
    EXPECT_EQ(results_->Wait(id).status.code(), StatusCode::kGpuLost);
    EXPECT_EQ(results_->Wait(id).status.message(), "a simulated fault");
  }
  scheduler_->Close();
  EXPECT_EQ(device_losses_, 1);
  EXPECT_EQ(scheduler_->stats().inferring + scheduler_->stats().decoding, 0u);
}

TEST_F(SchedulerDeviceLossTest, TheImagesInHandAreMarked) {
  const std::string path = testing::TempDir() + "marker-loss-" + std::to_string(getpid());
  marker_ = *CrashMarker::Open(path);
  Start({.killers = {20}});
  Submit(Task(20));
  EXPECT_EQ(CodeOf(20), StatusCode::kGpuLost);
  std::ostringstream marked;
  marked << std::ifstream(path).rdbuf();
  EXPECT_EQ(marked.str(), "20\n20\n");
  unlink(path.c_str());
}

TEST_F(SchedulerDeviceLossTest, ALossFoundElsewhereIsTheSame) {
  Start({});
  engine_->Hold();
  for (uint64_t id = 1; id <= 10; ++id) Submit(Task(id, ClassOf(id)));
  for (int i = 0; i < 2; ++i) scheduler_->LoseDevice({StatusCode::kGpuLost, "no more"});
  for (uint64_t id = 1; id <= 10; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kGpuLost);
  EXPECT_EQ(device_losses_, 1);
  engine_->Release();
}

// Faults, stalls, cancels, deadlines and Close, in any order: one answer per task.
TEST_F(SchedulerDeviceLossTest, EveryTaskIsAnsweredOnce) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    SimulatedEngine::Options options;
    options.batch_ms = static_cast<double>(1 + random() % 20) / 10;
    options.max_batch = 1 + static_cast<int>(random() % 6);
    options.slots = 1 + static_cast<int>(random() % 2);
    options.stalls = 0.02;
    if (random() % 2 == 0) options.killers = {static_cast<int>(random() % 240)};
    Start(options, seed, 2 + static_cast<int>(random() % 3));
    const bool files = random() % 2 == 0;
    RunAtRandom(random, 120, [&](uint64_t id) {
      ImageTask task = files ? FileTask(id) : Task(id);
      task.work_class = random() % 4 == 0 ? WorkClass::kSync : WorkClass::kAsync;
      task.priority = static_cast<double>(random() % 3);
      return task;
    });
    EXPECT_LE(device_losses_, 1);
    device_losses_ = 0;
    scheduler_.reset();
    ASSERT_EQ(results_->size(), 120u);
  }
}

}  // namespace
}  // namespace lattice
