// The scheduler over several GPUs: who runs what, and what becomes of images whose GPU is lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <thread>

#include "test/native/scheduler/random_gpus.h"
#include "test/native/scheduler/simulated_schedule.h"

namespace lattice {
namespace {

using test::SimulatedEngine;
using namespace std::chrono_literals;

class SchedulerDevicesTest : public test::SimulatedSchedule {
 protected:
  void Start(const SimulatedEngine::Options& options, unsigned seed = 1, int decode_threads = 1,
             int async_batch = 1) {
    SimulatedSchedule::Start(options, seed,
                             {.decode_threads = decode_threads, .async_batch = async_batch});
  }

  void SubmitOn(size_t place, uint64_t id, TaskKind kind = TaskKind::kAsync) {
    ImageTask task = Task(id, kind);
    task.device = SimulatedEngine::IndexOf(place);
    Submit(std::move(task));
  }

  std::vector<uint64_t> ImagesByPlace() {
    std::vector<uint64_t> images;
    for (const DeviceStatus& device : scheduler_->devices(engine_)) {
      images.push_back(device.images);
    }
    return images;
  }

  std::vector<DeviceState> States() {
    std::vector<DeviceState> states;
    for (const DeviceStatus& device : scheduler_->devices(engine_)) {
      states.push_back(device.state);
    }
    return states;
  }
};

TEST_F(SchedulerDevicesTest, SyncImagesGoToTheFastGpuOnceSpeedsAreKnown) {
  Start({.slice_ms = {60, 1, 60}});
  for (size_t place = 0; place < 3; ++place) SubmitOn(place, 1 + place, TaskKind::kSync);
  for (uint64_t id = 1; id <= 3; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kOk);
  for (uint64_t id = 10; id < 40; ++id) {
    Submit(Task(id, TaskKind::kSync));
    EXPECT_EQ(CodeOf(id), StatusCode::kOk);
  }
  EXPECT_EQ(ImagesByPlace(), (std::vector<uint64_t>{1, 31, 1}));
}

TEST_F(SchedulerDevicesTest, AJobFillsAllGpusAndEachAnswerIsItsImages) {
  Start({.slice_ms = {4, 4, 4, 4}}, 1, 2);
  for (uint64_t id = 1; id <= 300; ++id) Submit(Task(id));
  for (uint64_t id = 1; id <= 300; ++id) {
    const TaskResult result = results_->Wait(id);
    ASSERT_TRUE(result.status.ok());
    EXPECT_EQ(result.detections.boxes.at(0).score, static_cast<float>(id) / (1 << 20));
  }
  for (const uint64_t images : ImagesByPlace()) EXPECT_GE(images, 20u);
}

TEST_F(SchedulerDevicesTest, ATaskRunsOnTheDeviceThatItNames) {
  Start({.slice_ms = {1, 1, 1}});
  for (uint64_t id = 1; id <= 30; ++id) SubmitOn(id % 3, id, static_cast<TaskKind>(id % 2));
  for (uint64_t id = 1; id <= 30; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kOk);
  for (const auto& [place, mark] : engine_->WaitForImages(30)) {
    EXPECT_EQ(place, static_cast<size_t>(mark % 3));
  }
  SubmitOn(3, 40);
  EXPECT_EQ(CodeOf(40), StatusCode::kGpuUnavailable);
  engine_->Lose(1);
  for (const uint64_t id : {41u, 42u}) {
    SubmitOn(1, id);
    EXPECT_EQ(CodeOf(id), StatusCode::kGpuLost);
  }
  EXPECT_EQ(engine_->runs().count(42), 0u);  // known to be lost by then
}

TEST_F(SchedulerDevicesTest, ImagesOfALostGpuGoInFrontOfTheirOrder) {
  Start({.slice_ms = {1, 1}, .slots = 1, .max_batch = 1});
  engine_->Hold(0);
  engine_->Hold(1);
  SubmitOn(1, 1);
  engine_->WaitForImages(1);
  Submit(Task(2, TaskKind::kAsync, 5));
  engine_->WaitForImages(2);
  for (uint64_t id = 3; id <= 8; ++id) Submit(Task(id, TaskKind::kAsync, id < 6 ? 5 : 9));
  while (scheduler_->stats().queued_async > 1) std::this_thread::sleep_for(1ms);
  engine_->Lose(0);
  while (scheduler_->stats().inferring > 1) std::this_thread::sleep_for(1ms);
  engine_->Release(1);
  for (uint64_t id = 1; id <= 8; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kOk);
  // 8 was decoded last: what is further ahead is not decoded before.
  std::vector<int> order;
  for (const auto& [place, mark] : engine_->WaitForImages(9)) order.push_back(mark);
  const auto again = std::find(order.begin() + 2, order.end(), 2);
  EXPECT_LT(again, std::find(order.begin(), order.end(), 3));
  EXPECT_LT(std::find(order.begin(), order.end(), 6), again);
  EXPECT_EQ(States(), (std::vector{DeviceState::kLost, DeviceState::kOk}));
}

TEST_F(SchedulerDevicesTest, AnImageThatKillsGpusTakesTwoAtMost) {
  Start({.slice_ms = {1, 1, 1, 1}, .killers = {50}}, 3);
  for (uint64_t id = 1; id <= 100; ++id) Submit(Task(id));
  EXPECT_EQ(CodeOf(50), StatusCode::kGpuLost);
  int lost = 0;
  for (uint64_t id = 1; id <= 100; ++id) lost += CodeOf(id) == StatusCode::kGpuLost ? 1 : 0;
  EXPECT_LE(lost, 2);  // another one that was beside it on both GPUs
  EXPECT_EQ(engine_->lost(), 2u);
  EXPECT_EQ(engine_->runs()[50], 2);
}

TEST_F(SchedulerDevicesTest, SlicesFillWhileAllDevicesAreBusy) {
  constexpr int kBatch = 32;
  Start({.slice_ms = {1, 1}, .slots = 2, .max_batch = kBatch}, 1, 2, kBatch);
  for (const size_t place : {0u, 1u}) engine_->Hold(place);
  constexpr uint64_t kImages = 400;
  for (uint64_t id = 1; id <= kImages; ++id) Submit(Task(id));
  // Four slices of what was there first, and the next four decoded.
  engine_->WaitForImages(4);
  while (engine_->prepared() < 4 + 4 * static_cast<size_t>(kBatch))
    std::this_thread::sleep_for(1ms);
  for (const size_t place : {0u, 1u}) engine_->Release(place);
  size_t in_full_slices = 0;
  for (uint64_t id = 1; id <= kImages; ++id) {
    if (results_->Wait(id).batch == kBatch) ++in_full_slices;
  }
  EXPECT_GE(in_full_slices, 4 * static_cast<size_t>(kBatch));
}

TEST_F(SchedulerDevicesTest, WithNoGpuLeftEveryImageIsAnswered) {
  Start({.slice_ms = {1, 1}});
  for (const size_t place : {0u, 1u}) engine_->Hold(place);
  for (uint64_t id = 1; id <= 100; ++id) Submit(Task(id, static_cast<TaskKind>(id % 2)));
  engine_->WaitForImages(8);
  for (const size_t place : {0u, 1u}) engine_->Lose(place);
  for (uint64_t id = 1; id <= 100; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kGpuLost);
  Submit(Task(101));
  EXPECT_EQ(CodeOf(101), StatusCode::kGpuLost);
  EXPECT_EQ(scheduler_->stats().inferring, 0u);
}

TEST_F(SchedulerDevicesTest, WhatLiesOnALostGpuIsDecodedAgain) {
  Start({.slice_ms = {1, 1}, .slots = 1, .max_batch = 1, .binds = true}, 1, 2);
  for (const size_t place : {0u, 1u}) engine_->Hold(place);
  for (uint64_t id = 1; id <= 6; ++id) Submit(FileTask(id));
  engine_->WaitForImages(2);
  while (engine_->prepared() < 6) std::this_thread::sleep_for(1ms);
  engine_->Lose(0);
  engine_->Release(1);
  for (uint64_t id = 1; id <= 6; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kOk);
  EXPECT_EQ(engine_->prepared(), 9u);  // three lay there
  EXPECT_EQ(engine_->misplaced(), 0u);
}

TEST_F(SchedulerDevicesTest, ADeviceWithWrongBoxesIsLeftAloneWhileThereIsAnother) {
  Start({.slice_ms = {1, 1}});
  const auto judge = [&](size_t place, bool right) {
    scheduler_->JudgeDevice(engine_, SimulatedEngine::IndexOf(place), right);
  };
  judge(0, false);
  for (uint64_t id = 1; id <= 20; ++id) Submit(Task(id, static_cast<TaskKind>(id % 2)));
  for (uint64_t id = 1; id <= 20; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kOk);
  EXPECT_EQ(ImagesByPlace(), (std::vector<uint64_t>{0, 20}));
  EXPECT_EQ(States(), (std::vector{DeviceState::kFailedCheck, DeviceState::kOk}));
  SubmitOn(0, 21);  // its next check
  EXPECT_EQ(CodeOf(21), StatusCode::kOk);
  judge(1, false);
  Submit(Task(22));
  EXPECT_EQ(CodeOf(22), StatusCode::kOk);
  judge(0, true);
  judge(7, false);
  EXPECT_EQ(States(), (std::vector{DeviceState::kOk, DeviceState::kFailedCheck}));
}

TEST_F(SchedulerDevicesTest, AGpuThatHangsHoldsUpOnlyWhatItHas) {
  Start({.slice_ms = {1, 2}});
  for (const size_t place : {0u, 1u}) SubmitOn(place, 1 + place, TaskKind::kSync);
  for (const uint64_t id : {1u, 2u}) EXPECT_EQ(CodeOf(id), StatusCode::kOk);
  engine_->Hold(0);
  for (uint64_t id = 10; id < 60; ++id) Submit(Task(id, static_cast<TaskKind>(id % 2)));
  while (results_->size() < 52 - 16) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(ImagesByPlace()[0], 1u);
  engine_->Release(0);
  for (uint64_t id = 10; id < 60; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kOk);
}

// The engine answers so once its patience with a GPU has ended.
TEST_F(SchedulerDevicesTest, WhatAGpuThatHangsHadGoesElsewhereOnceItIsGivenUp) {
  Start({.slice_ms = {1, 1, 1}});
  engine_->Hold(0);
  for (const TaskKind kind : {TaskKind::kSync, TaskKind::kAsync}) {
    for (uint64_t id = 1; id <= 40; ++id) {
      Submit(Task(id + (kind == TaskKind::kSync ? 0 : 100), kind));
    }
  }
  // At most two slices of four in each lane are there.
  while (results_->size() < 80 - 16) std::this_thread::sleep_for(1ms);
  EXPECT_LT(results_->size(), 80u);
  engine_->Lose(0);
  for (uint64_t id = 1; id <= 40; ++id) {
    EXPECT_EQ(CodeOf(id), StatusCode::kOk);
    EXPECT_EQ(CodeOf(id + 100), StatusCode::kOk);
  }
  for (const auto& [mark, runs] : engine_->runs()) EXPECT_LE(runs, 2) << mark;
  EXPECT_EQ(States(), (std::vector{DeviceState::kLost, DeviceState::kOk, DeviceState::kOk}));
}

// Four priorities in one go, submitted in any order, while a GPU goes.
TEST_F(SchedulerDevicesTest, PrioritiesKeepTheirOrderWhileAGpuIsLost) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    Start({.slice_ms = {0.3, 0.3, 0.6, 0.3}, .unstable = {2}}, seed);
    for (size_t place = 0; place < 4; ++place) engine_->Hold(place);
    std::mt19937 random(seed);
    std::vector<ImageTask> tasks;
    std::map<int, size_t> priority_of;
    for (uint64_t id = 1; id <= 240; ++id) {
      const size_t priority = random() % 4;
      priority_of[static_cast<int>(id)] = priority;
      tasks.push_back(Task(id, TaskKind::kAsync, static_cast<double>(priority)));
    }
    scheduler_->Submit(std::move(tasks));
    for (size_t place = 0; place < 4; ++place) engine_->Release(place);
    for (uint64_t id = 1; id <= 240; ++id) ASSERT_EQ(CodeOf(id), StatusCode::kOk);
    double place_sum[4] = {};
    double count[4] = {};
    double at = 0;
    for (const auto& [place, mark] : engine_->WaitForImages(240)) {
      place_sum[priority_of[mark]] += at++;
      ++count[priority_of[mark]];
    }
    // Where all run in their order, the means lie 60 apart.
    for (size_t higher = 1; higher < 4; ++higher) {
      EXPECT_LT(place_sum[higher] / count[higher] + 30, place_sum[higher - 1] / count[higher - 1])
          << "seed " << seed;
    }
    scheduler_.reset();
  }
}

// Losses, stalls, killers, cancels, deadlines and the end, in any order: one answer a task.
TEST_F(SchedulerDevicesTest, EveryTaskIsAnsweredOnceWhateverIsLost) {
  for (unsigned seed = 0; seed < 25; ++seed) {
    std::mt19937 random(seed);
    SimulatedEngine::Options options = test::RandomGpus(
        random, {.most_gpus = 5, .most_tenths = 20, .unstable_one_in = 3, .binds_one_in = 2});
    options.stalls = 0.02;
    const uint64_t count = 120;
    if (random() % 3 == 0) options.killers.insert(static_cast<int>(1 + random() % count));
    Start(options, seed, 2);
    RunAtRandom(random, count, [&](uint64_t id) {
      ImageTask task = options.binds ? FileTask(id) : Task(id);
      task.kind = random() % 4 == 0 ? TaskKind::kSync : TaskKind::kAsync;
      task.priority = static_cast<double>(random() % 3);
      if (!options.binds && random() % 20 == 0) {
        task.device = SimulatedEngine::IndexOf(random() % places_);
      }
      return task;
    });
    ASSERT_EQ(engine_->misplaced(), 0u);
    if (!options.binds) {
      for (const auto& [mark, runs] : engine_->runs()) ASSERT_LE(runs, 2) << mark;
    }
    if (options.unstable.empty()) {
      ASSERT_LE(engine_->lost(), 2 * options.killers.size());
    }
    if (engine_->lost() < places_ && options.killers.empty() && options.unstable.size() < 2) {
      for (uint64_t id = 1; id <= count; ++id) {
        const StatusCode code = CodeOf(id);
        // Only what named the lost device itself.
        if (code == StatusCode::kGpuLost) {
          ASSERT_EQ(engine_->lost(), 1u) << seed;
        }
      }
    }
    scheduler_.reset();
  }
}

}  // namespace
}  // namespace lattice
