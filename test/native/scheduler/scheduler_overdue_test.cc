// The scheduler over GPUs whose calls do not return: the images go elsewhere, the threads may come
// back whenever they like.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <random>
#include <thread>

#include "native/base/abandoned_gpu.h"
#include "test/native/scheduler/random_gpus.h"
#include "test/native/scheduler/simulated_schedule.h"

namespace lattice {
namespace {

using test::SimulatedEngine;
using namespace std::chrono_literals;

constexpr auto kLongestRun = 100ms;

class SchedulerOverdueTest : public test::SimulatedSchedule {
 protected:
  void Start(SimulatedEngine::Options options, unsigned seed = 1, int decode_threads = 1,
             Clock::duration longest_run = kLongestRun) {
    options.longest_run = longest_run;
    SimulatedSchedule::Start(options, seed, {.decode_threads = decode_threads});
  }

  void TearDown() override {
    scheduler_.reset();
    LetAllGo();
  }

  // Calls return; ends once no thread uses the engine any more.
  void LetAllGo() {
    if (engine_ == nullptr) return;
    engine_->LetGo();
    const std::weak_ptr<Engine> engine = engine_;
    if (scheduler_ == nullptr) {
      engine_.reset();
      while (!engine.expired()) std::this_thread::sleep_for(1ms);
    } else {
      engine_->WaitForStanding(0);
    }
  }

  std::vector<DeviceState> States() {
    std::vector<DeviceState> states;
    for (const DeviceStatus& device : scheduler_->devices(engine_)) states.push_back(device.state);
    return states;
  }
};

TEST_F(SchedulerOverdueTest, WithNoOtherGpuTheyAreAnswered) {
  Start({.slice_ms = {1}});
  engine_->Stand(0);
  for (uint64_t id = 1; id <= 40; ++id) Submit(Task(id, static_cast<TaskKind>(id % 2)));
  for (uint64_t id = 1; id <= 40; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kGpuLost);
  Submit(Task(41));
  EXPECT_EQ(CodeOf(41), StatusCode::kGpuLost);
  LetAllGo();
  EXPECT_EQ(scheduler_->stats().failed, 41u);
  EXPECT_EQ(scheduler_->stats().inferring, 0u);
}

TEST_F(SchedulerOverdueTest, AnImageThatStandsOnTwoGpusIsNotTriedOnAThird) {
  Start({.slice_ms = {1, 1, 1}, .slots = 1, .max_batch = 1});
  for (const size_t place : {0u, 1u, 2u}) engine_->Stand(place);
  Submit(Task(1));
  EXPECT_EQ(CodeOf(1), StatusCode::kGpuLost);
  EXPECT_EQ(engine_->runs()[1], 2);
  EXPECT_EQ(engine_->standing(), 2u);
}

TEST_F(SchedulerOverdueTest, WhatCameLaterGoesWithTheFirst) {
  Start({.slice_ms = {1}, .max_batch = 1}, 1, 1, 2s);
  engine_->Stand(0);
  Submit(Task(1));
  engine_->WaitForStanding(1);
  std::this_thread::sleep_for(1s);
  Stopwatch watch;
  Submit(Task(2));
  for (const uint64_t id : {1u, 2u}) EXPECT_EQ(CodeOf(id), StatusCode::kGpuLost);
  EXPECT_LT(watch.Lap(), 1800);
}

TEST_F(SchedulerOverdueTest, ASlowCallIsWaitedFor) {
  Start({.slice_ms = {1}});
  engine_->Stand(0);
  Submit(Task(1));
  engine_->WaitForStanding(1);
  std::this_thread::sleep_for(kLongestRun / 4);
  engine_->LetGo();
  EXPECT_EQ(CodeOf(1), StatusCode::kOk);
  EXPECT_EQ(States(), std::vector{DeviceState::kOk});
}

TEST_F(SchedulerOverdueTest, DecodeThreadsThatStandComeBack) {
  Start({.slice_ms = {1, 1, 1}}, 1, 4);
  engine_->Stand(0);
  engine_->Stand(1);
  for (const uint64_t id : {1u, 2u}) {
    Submit(Task(id, TaskKind::kSync));
    engine_->WaitForStanding(id);
  }
  for (const uint64_t id : {1u, 2u}) EXPECT_EQ(CodeOf(id), StatusCode::kOk);
  EXPECT_EQ(engine_->standing(), 2u);
  for (uint64_t id = 10; id < 30; ++id) {
    if (id == 20) LetAllGo();
    Submit(Task(id, TaskKind::kSync));
    EXPECT_EQ(CodeOf(id), StatusCode::kOk);
  }
}

TEST_F(SchedulerOverdueTest, WhatTheCallReadsStaysUntilItReturns) {
  Start({.slice_ms = {1}, .keeps_pixels = true});
  engine_->Stand(0);
  for (uint64_t id = 1; id <= 8; ++id) Submit(Task(id, static_cast<TaskKind>(id % 2)));
  for (uint64_t id = 1; id <= 8; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kGpuLost);
  EXPECT_EQ(scheduler_->stats().held_bytes, 0u);
  EXPECT_GT(engine_->pixel_bytes(), 0u);
  LetAllGo();
  while (engine_->pixel_bytes() > 0) std::this_thread::sleep_for(1ms);
}

TEST_F(SchedulerOverdueTest, ACloseDoesNotWaitForThem) {
  for (const bool given_up_before : {true, false}) {
    for (const TaskKind kind : {TaskKind::kSync, TaskKind::kAsync}) {
      Start({.slice_ms = {1}}, 1, 4);
      engine_->Stand(0);
      Submit(Task(1, kind));
      engine_->WaitForStanding(1);
      if (given_up_before) {
        EXPECT_EQ(CodeOf(1), StatusCode::kGpuLost);
      }
      scheduler_->Close();
      const auto code = given_up_before ? StatusCode::kGpuLost : StatusCode::kShuttingDown;
      EXPECT_EQ(CodeOf(1), code);
      EXPECT_EQ(engine_->standing(), 1u);
      scheduler_.reset();
      results_.reset();
      LetAllGo();
    }
  }
}

TEST_F(SchedulerOverdueTest, ACloseEndsWithTheLastSliceAndNotAtTheNextLook) {
  Start({.slice_ms = {1}}, 1, 1, 1h);
  engine_->Hold(0);
  Submit(Task(1));
  engine_->WaitForImages(1);
  std::thread releasing([this] {
    std::this_thread::sleep_for(20ms);
    engine_->Release(0);
  });
  Stopwatch watch;
  scheduler_->Close();
  EXPECT_LT(watch.Lap(), 800);  // looks are a second apart
  EXPECT_EQ(CodeOf(1), StatusCode::kOk);
  releasing.join();
}

// Calls that stand, losses, stalls, cancels, deadlines and the end, in any order: one answer a
// task.
TEST_F(SchedulerOverdueTest, EveryTaskIsAnsweredOnceWhateverStands) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    SimulatedEngine::Options options = test::RandomGpus(
        random, {.most_gpus = 4, .most_tenths = 20, .unstable_one_in = 4, .binds_one_in = 2});
    options.stalls = 0.02;
    options.hangs = 0.03;
    Start(options, seed, 2 + static_cast<int>(random() % 3));
    // Some come back while the others still work.
    std::thread letting_go;
    if (random() % 2 == 0) {
      letting_go = std::thread([this, engine = engine_] {
        std::this_thread::sleep_for(kLongestRun + 50ms);
        engine->LetGo();
      });
    }
    RunAtRandom(random, 120, [&](uint64_t id) {
      ImageTask task = options.binds ? FileTask(id) : Task(id);
      task.kind = random() % 4 == 0 ? TaskKind::kSync : TaskKind::kAsync;
      task.priority = static_cast<double>(random() % 3);
      return task;
    });
    ASSERT_EQ(engine_->misplaced(), 0u);
    if (!options.binds) {
      for (const auto& [mark, runs] : engine_->runs()) ASSERT_LE(runs, 2) << mark;
    }
    if (letting_go.joinable()) letting_go.join();
    scheduler_.reset();
    LetAllGo();
    ASSERT_EQ(results_->size(), 120u);
  }
}

}  // namespace
}  // namespace lattice
