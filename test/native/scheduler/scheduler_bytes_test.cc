// How many bytes of pixels wait for the network.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "test/native/scheduler/simulated_schedule.h"

namespace lattice {
namespace {

using test::SimulatedEngine;
using namespace std::chrono_literals;

class SchedulerBytesTest : public test::SimulatedSchedule {
 protected:
  void Start(SimulatedEngine::Options options, size_t bytes, unsigned seed = 1,
             int decode_threads = 2) {
    options.keeps_pixels = true;
    SimulatedSchedule::Start(options, seed, {decode_threads, options.max_batch, bytes, bytes});
  }

  ImageTask WideTask(uint64_t id, int width, WorkClass work_class = WorkClass::kAsync,
                     double priority = 0) const {
    return Task(id, work_class, priority, width);
  }

  // Until so many async images wait to be decoded, and then for a time in which more would be
  // begun.
  void WaitUntilQueued(size_t images) {
    while (scheduler_->stats().queued_async > images || scheduler_->stats().decoding > 0) {
      std::this_thread::sleep_for(1ms);
    }
    std::this_thread::sleep_for(10ms);
    EXPECT_EQ(scheduler_->stats().queued_async, images);
  }
};

TEST_F(SchedulerBytesTest, ABatchOfLargeImagesHoldsTheBytes) {
  Start({.max_batch = 8}, 3 * 5000);
  engine_->Hold();
  for (uint64_t id = 1; id <= 60; ++id) Submit(WideTask(id, 1000));  // 3000 bytes each
  WaitUntilQueued(55);
  EXPECT_EQ(engine_->pixel_bytes(), 15'000u);
  EXPECT_EQ(scheduler_->stats().held_bytes, 15'000u);
  engine_->Release();
  for (uint64_t id = 1; id <= 60; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kOk);
  EXPECT_LE(engine_->most_pixel_bytes(), 15'000u);
  scheduler_->Close();
  EXPECT_EQ(scheduler_->stats().held_bytes, 0u);
}

TEST_F(SchedulerBytesTest, SmallImagesAreBoundByTheirNumberAlone) {
  Start({.max_batch = 4}, 1'000'000);
  engine_->Hold();
  for (uint64_t id = 1; id <= 60; ++id) Submit(WideTask(id, 10));
  // Two batches of one image at least, and 2 * (4 + 1) + 2 decoded.
  const auto settled = [&] {
    const SchedulerStats stats = scheduler_->stats();
    return stats.decoding == 0 && stats.queued_async + stats.inferring + 12 <= 60;
  };
  while (!settled()) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(engine_->pixel_bytes(), 30 * (scheduler_->stats().inferring + 12));
}

TEST_F(SchedulerBytesTest, WhatIsLargerThanAllBytesGoesAlone) {
  Start({.max_batch = 8}, 100);
  for (uint64_t id = 1; id <= 30; ++id) Submit(WideTask(id, 1000));
  for (uint64_t id = 1; id <= 30; ++id) EXPECT_EQ(results_->Wait(id).batch, 1);
  EXPECT_EQ(engine_->most_pixel_bytes(), 3000u);
}

TEST_F(SchedulerBytesTest, SyncImagesPassWhateverJobsHold) {
  Start({.max_batch = 1}, 3000);
  engine_->Hold();
  for (uint64_t id = 1; id <= 10; ++id) Submit(WideTask(id, 1000));
  WaitUntilQueued(9);
  EXPECT_EQ(scheduler_->stats().held_bytes, 3000u);
  Submit(WideTask(20, 2000, WorkClass::kSync));
  EXPECT_EQ(engine_->WaitForImages(2).back(), 20);
  EXPECT_EQ(scheduler_->stats().held_bytes, 3000u);
  engine_->Release();
  EXPECT_EQ(CodeOf(20), StatusCode::kOk);
}

TEST_F(SchedulerBytesTest, SyncImagesBeyondTheirBytesWaitUndecoded) {
  Start({.max_batch = 1}, 2 * 3000);
  engine_->Hold();
  for (uint64_t id = 1; id <= 30; ++id) Submit(WideTask(id, 1000, WorkClass::kSync));
  engine_->WaitForImages(1);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(scheduler_->stats().queued_sync, 28u);
  EXPECT_EQ(engine_->pixel_bytes(), 6000u);
  EXPECT_EQ(scheduler_->Cancel({{30}}), 1u);
  engine_->Release();
  for (uint64_t id = 1; id <= 29; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kOk);
  EXPECT_LE(engine_->most_pixel_bytes(), 6000u);
  scheduler_->Close();
  EXPECT_EQ(engine_->pixel_bytes(), 0u);
}

TEST_F(SchedulerBytesTest, SmallSyncImagesAreBoundByTheirNumber) {
  Start({.max_batch = 1}, 1'000'000);
  engine_->Hold();
  for (uint64_t id = 1; id <= 60; ++id) Submit(WideTask(id, 10, WorkClass::kSync));
  engine_->WaitForImages(2);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(scheduler_->stats().queued_sync, 60u - 2 - 6);  // 2 * 2 + 2 decoded, 2 in the network
  engine_->Release();
  for (uint64_t id = 1; id <= 60; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kOk);
}

TEST_F(SchedulerBytesTest, ALargeImageIsNotPassedBySmallOnesForEver) {
  Start({.batch_ms = 0.3, .max_batch = 2}, 3000);
  engine_->Hold();
  for (uint64_t id = 1; id <= 6; ++id) Submit(WideTask(id, 100));
  Submit(WideTask(7, 1000));  // as many bytes as the limit allows
  for (uint64_t id = 8; id <= 60; ++id) Submit(WideTask(id, 100));
  engine_->Release();
  for (uint64_t id = 1; id <= 60; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kOk);
  const std::vector<int> order = engine_->WaitForImages(60);
  EXPECT_LT(std::find(order.begin(), order.end(), 7) - order.begin(), 10);
}

TEST_F(SchedulerBytesTest, AHigherPriorityGoesInFrontOfWhatWaitsForBytes) {
  Start({.slots = 1, .max_batch = 1}, 3000, 1, 1);
  engine_->Hold();
  Submit(WideTask(1, 900));
  engine_->WaitForImages(1);
  for (uint64_t id = 2; id <= 5; ++id) Submit(WideTask(id, 900));
  Submit(WideTask(6, 900, WorkClass::kAsync, 5));
  WaitUntilQueued(5);
  engine_->Release();
  for (uint64_t id = 1; id <= 6; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kOk);
  EXPECT_EQ(engine_->WaitForImages(6), (std::vector<int>{1, 6, 2, 3, 4, 5}));
}

// shapes.png says its size before it is decoded, and is 640 x 480.
TEST_F(SchedulerBytesTest, FilesAreCountedByTheirHeaders) {
  constexpr size_t kBytes = size_t{3} * 640 * 480;
  Start({.max_batch = 4}, 2 * kBytes, 1, 4);
  engine_->Hold();
  for (uint64_t id = 1; id <= 12; ++id) Submit(FileTask(id, "shapes.png"));
  Submit(FileTask(13, "no-such.png"));
  WaitUntilQueued(10);
  EXPECT_EQ(CodeOf(13), StatusCode::kImageNotFound);  // read ahead of those that wait
  EXPECT_EQ(engine_->pixel_bytes(), 2 * kBytes);
  // Files are read side by side: two of any are decoded already.
  EXPECT_GE(scheduler_->Cancel({{9, 10, 11, 12}}), 2u);
  engine_->Release();
  for (uint64_t id = 1; id <= 12; ++id) {
    EXPECT_EQ(CodeOf(id), id < 9 ? StatusCode::kOk : StatusCode::kCancelled) << id;
  }
  EXPECT_LE(engine_->most_pixel_bytes(), 2 * kBytes);
}

// Sizes, priorities, faults, cancels, deadlines and Close, in any order: never more than the bytes
// or one image, one answer per task, and all bytes back.
TEST_F(SchedulerBytesTest, HoldsTheBytesWhateverHappens) {
  for (unsigned seed = 0; seed < 25; ++seed) {
    std::mt19937 random(seed);
    SimulatedEngine::Options options;
    options.batch_ms = static_cast<double>(1 + random() % 10) / 10;
    options.max_batch = 1 + static_cast<int>(random() % 6);
    options.slots = 1 + static_cast<int>(random() % 2);
    options.stalls = 0.01;
    if (seed % 4 == 0) options.killers = {static_cast<int>(random() % 300)};
    constexpr size_t kBytes = 3000;
    Start(options, kBytes, seed, 1 + static_cast<int>(random() % 4));
    size_t largest = 0;
    RunAtRandom(random, 150, [&](uint64_t id) {
      const int width = 1 + static_cast<int>(random() % (random() % 10 == 0 ? 2500 : 300));
      largest = std::max(largest, size_t{3} * static_cast<size_t>(width));
      return WideTask(id, width, WorkClass::kAsync, static_cast<double>(random() % 3));
    });
    ASSERT_LE(engine_->most_pixel_bytes(), std::max(kBytes, largest)) << seed;
    // After a loss, Close does not wait for calls of the engine.
    while (engine_->pixel_bytes() > 0) std::this_thread::sleep_for(1ms);
    scheduler_.reset();
  }
}

}  // namespace
}  // namespace lattice
