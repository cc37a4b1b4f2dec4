// Pictures in tiles: one answer of all parts, whatever happens to them on the way.
#include <gtest/gtest.h>

#include "test/native/scheduler/simulated_schedule.h"

namespace lattice {
namespace {

using test::SimulatedEngine;
using test::SimulatedSchedule;

class SchedulerTilesTest : public SimulatedSchedule {
 protected:
  // 64 x 64 pixels in 2 x 2 tiles; the first pixel of each tile, its mark, is the id and the tile's
  // number.
  ImageTask TiledTask(uint64_t id, WorkClass work_class = WorkClass::kAsync, double priority = 0) {
    ImageTask task = Task(id, work_class, priority);
    task.pixels = Image{64, 64, ByteBuffer(size_t{3} * 64 * 64, 0)};
    for (size_t tile = 0; tile < 4; ++tile) {
      const size_t at = 3 * (32 * (tile % 2) + size_t{64} * 32 * (tile / 2));
      task.pixels->data[at] = static_cast<uint8_t>(id);
      task.pixels->data[at + 1] = static_cast<uint8_t>(tile);
    }
    task.tiles = TileSpec{.columns = 2, .rows = 2, .overlap = 0};
    return task;
  }

  static int Mark(uint64_t id, int tile) { return static_cast<int>(id) | tile << 8; }
};

TEST_F(SchedulerTilesTest, TheBoxesOfAllTilesAreOneAnswer) {
  Start({}, 1, {});
  Submit(TiledTask(5, WorkClass::kSync));
  const TaskResult result = results_->Wait(5);
  ASSERT_TRUE(result.status.ok()) << result.status.message();
  EXPECT_EQ(result.grid.columns, 2);
  EXPECT_EQ(result.grid.width, 32);
  EXPECT_EQ(result.width, 64);
  EXPECT_EQ(result.batch, 5);
  EXPECT_EQ(engine_->WaitForImages(5).size(), 5u);
  // The whole picture finds what its first tile does.
  ASSERT_EQ(result.detections.boxes.size(), 4u);
  for (int tile = 0; tile < 4; ++tile) {
    const Detection& box = result.detections.boxes[static_cast<size_t>(3 - tile)];
    EXPECT_EQ(box.score, static_cast<float>(Mark(5, tile)) / (1 << 20));
    EXPECT_EQ(box.x1, static_cast<float>(12 + 32 * (tile % 2)));
    EXPECT_EQ(box.y2, static_cast<float>(20 + 32 * (tile / 2)));
  }
  EXPECT_LE(result.times.queue + result.times.decode + result.times.preprocess +
                result.times.inference + result.times.postprocess,
            result.total_ms + 0.01);
  EXPECT_EQ(scheduler_->stats().completed, 1u);
}

TEST_F(SchedulerTilesTest, APictureHasOneLookWhereItsTaskAsksForIt) {
  Start({}, 1, {});
  ImageTask task = TiledTask(5);
  std::fill(task.pixels->data.begin() + 3 * 64 * 32, task.pixels->data.end(), uint8_t{200});
  task.look = true;
  ImageTask whole = task;
  whole.id = 6;
  whole.tiles.reset();
  Submit(std::move(task));
  Submit(std::move(whole));
  Submit(TiledTask(7));
  for (const uint64_t id : {5U, 6U}) {
    const auto look = results_->Wait(id).look;
    ASSERT_NE(look, nullptr);
    EXPECT_EQ(look->grey[100], 0);
    EXPECT_EQ(look->grey[1000], 200);
  }
  EXPECT_EQ(results_->Wait(7).look, nullptr);
}

TEST_F(SchedulerTilesTest, BoxesAboveAScoreHaveDescriptorsWhereTheTaskAsksForThem) {
  Start({}, 1, {});
  ImageTask task = TiledTask(5);
  // Not in the rows of the marks.
  for (size_t at = 0; at < task.pixels->data.size(); at += 7) {
    if (at / (3 * 64) % 32 != 0) task.pixels->data[at] = 200;
  }
  const DescribedPicture picture = DescribedPictureOf(*task.pixels);
  // The score of the second weakest box of the tiles: those above it are two.
  task.descriptors_above = static_cast<float>(Mark(5, 1)) / (1 << 20);
  ImageTask whole = task;
  whole.id = 6;
  whole.tiles.reset();
  whole.descriptors_above = 0;
  Submit(std::move(task));
  Submit(std::move(whole));
  Submit(TiledTask(7));
  for (const auto& [id, count] : {std::pair{5U, 2U}, std::pair{6U, 1U}}) {
    const TaskResult result = results_->Wait(id);
    ASSERT_EQ(result.descriptors.size(), count) << id;
    for (size_t i = 0; i < count; ++i) {
      const Detection& box = result.detections.boxes[i];
      EXPECT_EQ(result.descriptors[i], DescriptorOf(picture, box.x1, box.y1, box.x2, box.y2));
      EXPECT_NE(result.descriptors[i], BoxDescriptor{});
    }
  }
  EXPECT_TRUE(results_->Wait(7).descriptors.empty());
}

TEST_F(SchedulerTilesTest, AllPartsAreOneBatchWhereItHoldsThem) {
  SimulatedEngine::Options options;
  options.max_batch = 8;
  Start(options, 1, {});
  for (const WorkClass work_class : {WorkClass::kSync, WorkClass::kAsync}) {
    Submit(TiledTask(work_class == WorkClass::kSync ? 1 : 2, work_class));
    ASSERT_EQ(CodeOf(work_class == WorkClass::kSync ? 1 : 2), StatusCode::kOk);
  }
  EXPECT_EQ(engine_->batches(), (std::vector<size_t>{5, 5}));
}

TEST_F(SchedulerTilesTest, TilesOfJobsAreInBatchesByPictureThoseOfSyncTasksTakeTurns) {
  for (const WorkClass work_class : {WorkClass::kSync, WorkClass::kAsync}) {
    SimulatedEngine::Options options;
    options.slots = 1;
    options.max_batch = 5;
    Start(options, 1, {});
    engine_->Hold();
    Submit(Task(1, work_class));
    engine_->WaitForImages(1);
    for (uint64_t id = 2; id <= 3; ++id) {
      Submit(TiledTask(id, work_class));
      while (scheduler_->stats().queued_sync + scheduler_->stats().queued_async +
                 scheduler_->stats().decoding >
             0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
    engine_->Release();
    std::vector<int> seen = engine_->WaitForImages(11);
    EXPECT_EQ(engine_->batches(), (std::vector<size_t>{1, 5, 5}));
    const auto of_the_first_batch = [&](int id) {
      return std::count_if(seen.begin() + 1, seen.begin() + 6,
                           [&](int mark) { return (mark & 0xff) == id; });
    };
    EXPECT_EQ(of_the_first_batch(2), work_class == WorkClass::kSync ? 3 : 5);
    EXPECT_EQ(of_the_first_batch(3), work_class == WorkClass::kSync ? 2 : 0);
    scheduler_.reset();
  }
}

// Until the last part is done.
TEST_F(SchedulerTilesTest, ThePixelsThatPartsShareCountOnce) {
  constexpr size_t kPicture = size_t{3} * 64 * 64;
  SimulatedEngine::Options options;
  options.keeps_pixels = true;
  options.slots = 1;
  options.max_batch = 1;
  Sizes sizes;
  sizes.async_batch = 8;
  sizes.async_pixel_bytes = 3 * kPicture;
  Start(options, 1, sizes);
  engine_->Hold();
  for (uint64_t id = 1; id <= 8; ++id) Submit(TiledTask(id));
  engine_->WaitForImages(1);
  while (scheduler_->stats().queued_async > 5 || scheduler_->stats().decoding > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(scheduler_->stats().held_bytes, 3 * kPicture);
  EXPECT_EQ(engine_->pixel_bytes(), 3 * kPicture);
  engine_->Release();
  for (uint64_t id = 1; id <= 8; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kOk);
  EXPECT_EQ(engine_->most_pixel_bytes(), 3 * kPicture);
  scheduler_->Close();
  EXPECT_EQ(scheduler_->stats().held_bytes, 0u);
  EXPECT_EQ(engine_->pixel_bytes(), 0u);
}

TEST_F(SchedulerTilesTest, AFileIsDecodedOnceForAllTiles) {
  Start({}, 1, {});
  ImageTask task = FileTask(3);
  task.tiles = TileSpec{.columns = 3, .rows = 1};
  Submit(std::move(task));
  const TaskResult result = results_->Wait(3);
  ASSERT_TRUE(result.status.ok()) << result.status.message();
  EXPECT_EQ(result.batch, 4);
  EXPECT_EQ(scheduler_->stats().decoded_by_cpu, 1u);
}

TEST_F(SchedulerTilesTest, ASmallPictureStaysWholeWhereItsSizeDecides) {
  Start({}, 1, {});
  ImageTask task = Task(9, WorkClass::kSync, 0, 40);
  task.tiles = TileSpec{};
  Submit(std::move(task));
  const TaskResult result = results_->Wait(9);
  EXPECT_TRUE(result.grid.is_whole());
  EXPECT_EQ(result.batch, 1);
}

TEST_F(SchedulerTilesTest, AnImageDoesNotWaitForAllTilesOfOneBeforeIt) {
  SimulatedEngine::Options options;
  options.slots = 1;
  options.max_batch = 1;
  Start(options, 1, {});
  engine_->Hold();
  Submit(TiledTask(1));
  engine_->WaitForImages(1);
  Submit(Task(7));
  while (scheduler_->stats().queued_async + scheduler_->stats().decoding > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  engine_->Release();
  const std::vector<int> seen = engine_->WaitForImages(6);
  const auto place = std::find(seen.begin(), seen.end(), 7) - seen.begin();
  EXPECT_GE(place, 1);
  EXPECT_LE(place, 3);
  EXPECT_EQ(CodeOf(1), StatusCode::kOk);
}

TEST_F(SchedulerTilesTest, ACancelledPictureTakesItsTilesAlong) {
  SimulatedEngine::Options options;
  options.slots = 1;
  options.max_batch = 1;
  Start(options, 1, {});
  engine_->Hold();
  Submit(TiledTask(1));
  engine_->WaitForImages(1);
  scheduler_->Cancel({{1}});
  EXPECT_EQ(CodeOf(1), StatusCode::kCancelled);
  engine_->Release();
  Submit(Task(2));
  EXPECT_EQ(CodeOf(2), StatusCode::kOk);
  EXPECT_EQ(engine_->WaitForImages(2), (std::vector<int>{Mark(1, 0), 2}));
  EXPECT_EQ(scheduler_->stats().held_bytes, 0u);
}

TEST_F(SchedulerTilesTest, APictureWhoseDeadlinePassesIsAnsweredOnce) {
  SimulatedEngine::Options options;
  options.slots = 1;
  options.max_batch = 1;
  options.batch_ms = 20;
  Start(options, 1, {});
  ImageTask task = TiledTask(1);
  task.deadline_ms = 30;
  Submit(std::move(task));
  EXPECT_EQ(CodeOf(1), StatusCode::kDeadlineExceeded);
  Submit(Task(2));
  EXPECT_EQ(CodeOf(2), StatusCode::kOk);
}

TEST_F(SchedulerTilesTest, TooLittleTimeForAllTilesIsSaidBeforeDecoding) {
  SimulatedEngine::Options options;
  options.slots = 1;
  options.max_batch = 1;
  options.batch_ms = 20;
  Start(options, 1, {});
  Submit(Task(1, WorkClass::kSync));
  EXPECT_EQ(CodeOf(1), StatusCode::kOk);
  ImageTask task = FileTask(2);
  task.work_class = WorkClass::kSync;
  task.tiles = TileSpec{.columns = 3, .rows = 3};
  task.deadline_ms = 100;
  Submit(std::move(task));
  EXPECT_EQ(CodeOf(2), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(engine_->prepared(), 1u);
}

TEST_F(SchedulerTilesTest, ALostDeviceAnswersThePicture) {
  SimulatedEngine::Options options;
  options.killers = {Mark(1, 2)};
  Start(options, 1, {});
  Submit(TiledTask(1));
  EXPECT_EQ(CodeOf(1), StatusCode::kGpuLost);
}

TEST_F(SchedulerTilesTest, WhateverHappensEachPictureIsAnsweredOnce) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    std::mt19937 random(seed);
    SimulatedEngine::Options options;
    options.keeps_pixels = seed % 2 == 0;
    options.slots = 1 + static_cast<int>(random() % 3);
    options.max_batch = 1 + static_cast<int>(random() % 4);
    options.batch_ms = 0.3;
    Sizes sizes;
    sizes.decode_threads = 1 + static_cast<int>(random() % 3);
    sizes.async_pixel_bytes = size_t{1} << (12 + random() % 8);
    sizes.sync_pixel_bytes = size_t{1} << (12 + random() % 8);
    Start(options, seed, sizes);
    RunAtRandom(random, 150, [&](uint64_t id) {
      const auto work_class = random() % 2 == 0 ? WorkClass::kSync : WorkClass::kAsync;
      const double priority = static_cast<double>(random() % 3);
      return random() % 2 == 0 ? TiledTask(id, work_class, priority)
                               : Task(id, work_class, priority);
    });
    if (HasFatalFailure()) return;
    EXPECT_EQ(engine_->pixel_bytes(), 0u) << "seed " << seed;
  }
}

}  // namespace
}  // namespace lattice
