// The scheduler over a device that faults, or whose calls do not return.
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

constexpr auto kLongestRun = 100ms;

class SchedulerDeviceLossTest : public test::SimulatedSchedule {
 protected:
  void Start(SimulatedEngine::Options options, unsigned seed = 1, int decode_threads = 1) {
    if (!options.longest_run) options.longest_run = kLongestRun;
    SimulatedSchedule::Start(options, seed, {.decode_threads = decode_threads});
  }

  void TearDown() override {
    scheduler_.reset();
    FreeEngine();
  }

  // Calls return; ends once no thread uses the engine any more.
  void FreeEngine() {
    if (engine_ == nullptr) return;
    engine_->Unblock();
    const std::weak_ptr<Engine> engine = engine_;
    engine_.reset();
    while (!engine.expired()) std::this_thread::sleep_for(1ms);
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

TEST_F(SchedulerDeviceLossTest, ACallThatDoesNotReturnIsAFault) {
  Start({});
  engine_->Block();
  for (uint64_t id = 1; id <= 40; ++id) Submit(Task(id, ClassOf(id)));
  for (uint64_t id = 1; id <= 40; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kGpuLost);
  EXPECT_GT(engine_->blocked(), 0u);
  EXPECT_EQ(device_losses_, 1);
  Submit(Task(41));
  EXPECT_EQ(CodeOf(41), StatusCode::kGpuLost);
  // The calls that return later change nothing.
  engine_->Unblock();
  engine_->WaitForBlocked(0);
  scheduler_->Close();
  EXPECT_EQ(scheduler_->stats().failed, 41u);
  EXPECT_EQ(scheduler_->stats().inferring, 0u);
  EXPECT_EQ(device_losses_, 1);
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

TEST_F(SchedulerDeviceLossTest, ASlowCallIsWaitedFor) {
  Start({.longest_run = 2s});
  engine_->Block();
  Submit(Task(1));
  engine_->WaitForBlocked(1);
  std::this_thread::sleep_for(100ms);
  engine_->Unblock();
  EXPECT_EQ(CodeOf(1), StatusCode::kOk);
  EXPECT_EQ(device_losses_, 0);
}

TEST_F(SchedulerDeviceLossTest, WhatTheCallReadsStaysUntilItReturns) {
  Start({.keeps_pixels = true});
  engine_->Block();
  for (uint64_t id = 1; id <= 8; ++id) Submit(Task(id, ClassOf(id)));
  for (uint64_t id = 1; id <= 8; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kGpuLost);
  scheduler_->Close();
  EXPECT_GT(engine_->pixel_bytes(), 0u);
  engine_->Unblock();
  scheduler_.reset();
  while (engine_->pixel_bytes() > 0) std::this_thread::sleep_for(1ms);
}

TEST_F(SchedulerDeviceLossTest, CloseDoesNotWaitForACallThatDoesNotReturn) {
  for (const bool lost_before : {true, false}) {
    for (const WorkClass work_class : {WorkClass::kSync, WorkClass::kAsync}) {
      for (const int decode_threads : {1, 4}) {
        Start({}, 1, decode_threads);
        engine_->Block();
        Submit(Task(1, work_class));
        engine_->WaitForBlocked(1);
        if (lost_before) {
          EXPECT_EQ(CodeOf(1), StatusCode::kGpuLost);
        }
        scheduler_->Close();
        EXPECT_EQ(CodeOf(1), StatusCode::kGpuLost);
        EXPECT_EQ(engine_->blocked(), 1u);
        scheduler_.reset();
        results_.reset();
        FreeEngine();
      }
    }
  }
}

TEST_F(SchedulerDeviceLossTest, CloseEndsWithTheLastBatchAndNotAtTheNextLook) {
  Start({.longest_run = 1h});
  engine_->Hold();
  Submit(Task(1));
  engine_->WaitForImages(1);
  std::thread releasing([this] {
    std::this_thread::sleep_for(20ms);
    engine_->Release();
  });
  Stopwatch watch;
  scheduler_->Close();
  EXPECT_LT(watch.Lap(), 800);  // looks are a second apart
  EXPECT_EQ(CodeOf(1), StatusCode::kOk);
  releasing.join();
}

// Blocked calls, faults, stalls, cancels, deadlines and Close, in any order: one answer per task.
TEST_F(SchedulerDeviceLossTest, EveryTaskIsAnsweredOnce) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    SimulatedEngine::Options options;
    options.batch_ms = static_cast<double>(1 + random() % 20) / 10;
    options.max_batch = 1 + static_cast<int>(random() % 6);
    options.slots = 1 + static_cast<int>(random() % 2);
    options.stalls = 0.02;
    if (random() % 2 == 0) options.blocks = 0.03;
    if (random() % 2 == 0) options.killers = {static_cast<int>(random() % 240)};
    Start(options, seed, 2 + static_cast<int>(random() % 3));
    // Some calls return while others still work.
    std::thread unblocking;
    if (random() % 2 == 0) {
      unblocking = std::thread([engine = engine_] {
        std::this_thread::sleep_for(kLongestRun + 50ms);
        engine->Unblock();
      });
    }
    const bool files = random() % 2 == 0;
    RunAtRandom(random, 120, [&](uint64_t id) {
      ImageTask task = files ? FileTask(id) : Task(id);
      task.work_class = random() % 4 == 0 ? WorkClass::kSync : WorkClass::kAsync;
      task.priority = static_cast<double>(random() % 3);
      return task;
    });
    EXPECT_LE(device_losses_, 1);
    device_losses_ = 0;
    if (unblocking.joinable()) unblocking.join();
    scheduler_.reset();
    FreeEngine();
    ASSERT_EQ(results_->size(), 120u);
  }
}

}  // namespace
}  // namespace lattice
