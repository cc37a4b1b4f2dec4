#include "native/scheduler/scheduler.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <thread>

#include "test/native/scheduler/gated_engine.h"
#include "test/native/scheduler/task_results.h"

namespace lattice {
namespace {

using test::GatedEngine;
using test::TaskResults;
using namespace std::chrono_literals;

RootedFiles DemoFiles() {
  EXPECT_TRUE(InitDecoders().ok());
  return *RootedFiles::Open({LATTICE_SOURCE_DIR "/models/demo"}, 1 << 20);
}

class SchedulerTest : public testing::Test {
 protected:
  // Decode threads are one of each class unless told otherwise, so that order is certain.
  void Start(int decode_threads = 1, int parallel = 1, int max_batch = 1) {
    Start(decode_threads, ClassOptions{parallel}, max_batch);
  }

  void Start(int decode_threads, const ClassOptions& both, int max_batch = 1) {
    engine_ = std::make_shared<GatedEngine>(both, max_batch);
    scheduler_ = std::make_unique<Scheduler>(
        SchedulerOptions{decode_threads, both, both, 0}, files_, *marker_,
        [this](TaskResult result) { results_.Add(std::move(result)); });
  }

  void TearDown() override {
    if (engine_ != nullptr) engine_->OpenGate();
  }

  // The id is the image's mark.
  ImageTask Task(uint64_t id, WorkClass work_class, double priority = 0, double deadline_ms = 0) {
    ImageTask task;
    task.id = id;
    task.engine = engine_;
    task.pixels = Image{8, 8, ByteBuffer(8 * 8 * 3, static_cast<uint8_t>(id))};
    task.work_class = work_class;
    task.priority = priority;
    task.deadline_ms = deadline_ms;
    task.options.confidence = 0.001f;
    return task;
  }

  void Submit(uint64_t id, WorkClass work_class, double priority = 0, double deadline_ms = 0) {
    EXPECT_EQ(scheduler_->Submit({Task(id, work_class, priority, deadline_ms)}), 0u);
  }

  // Occupies the network of a class with one image.
  void Occupy(uint64_t id, WorkClass work_class = WorkClass::kAsync) {
    const size_t before = engine_->images();
    Submit(id, work_class);
    engine_->WaitForImages(before + 1);
  }

  void WaitUntilDecoded() {
    while (true) {
      const SchedulerStats stats = scheduler_->stats();
      if (stats.decoding == 0 && stats.queued_sync == 0) return;
      std::this_thread::sleep_for(1ms);
    }
  }

  FileReader files_{DemoFiles()};
  std::unique_ptr<CrashMarker> marker_ = *CrashMarker::Open("");
  TaskResults results_;
  std::shared_ptr<GatedEngine> engine_;
  std::unique_ptr<Scheduler> scheduler_;
};

TEST_F(SchedulerTest, AnswersWithTheImagesOwnBoxesAndTimes) {
  Start();
  engine_->OpenGate();
  for (uint64_t id = 1; id <= 100; ++id)
    Submit(id, id % 2 == 0 ? WorkClass::kSync : WorkClass::kAsync);
  for (uint64_t id = 1; id <= 100; ++id) {
    const TaskResult result = results_.Wait(id);
    ASSERT_TRUE(result.status.ok()) << result.status.message();
    ASSERT_EQ(result.detections.boxes.size(), 1u);
    EXPECT_EQ(result.detections.boxes[0].score, static_cast<float>(id) / 256);
    EXPECT_EQ(result.width, 8);
    EXPECT_EQ(result.batch, 1);
    const StageTimes& t = result.times;
    EXPECT_LE(t.queue + t.decode + t.preprocess + t.inference + t.postprocess,
              result.total_ms + 0.01);
  }
  EXPECT_EQ(scheduler_->stats().completed, 100u);
}

TEST_F(SchedulerTest, SyncDoesNotWaitForAsyncAndAsyncNotForSync) {
  Start();
  Occupy(1, WorkClass::kAsync);
  Occupy(2, WorkClass::kSync);
  Submit(3, WorkClass::kSync);
  Submit(4, WorkClass::kAsync);
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(engine_->images(), 2u);  // each class runs one batch
  engine_->OpenGate();
  for (uint64_t id = 1; id <= 4; ++id) EXPECT_TRUE(results_.Wait(id).status.ok());
  EXPECT_EQ(engine_->most_running(), 2);
}

TEST_F(SchedulerTest, ALoneSyncImageRunsOnTheThreadThatDecodedIt) {
  Start(8, 3);  // an answered image may still have its thread and its slot
  engine_->OpenGate();
  for (const uint64_t id : {1u, 2u, 3u}) {
    Submit(id, WorkClass::kSync);
    EXPECT_TRUE(results_.Wait(id).status.ok());
    EXPECT_TRUE(engine_->ran_where_prepared(static_cast<int>(id))) << id;
  }
  Submit(4, WorkClass::kAsync);
  results_.Wait(4);
  EXPECT_FALSE(engine_->ran_where_prepared(4));
}

TEST_F(SchedulerTest, BatchesThatDoNotEndLeaveHalfOfTheThreadsToDecode) {
  Start(2, 2);
  Occupy(1, WorkClass::kSync);
  Occupy(2, WorkClass::kSync);
  EXPECT_TRUE(engine_->ran_where_prepared(1));
  EXPECT_FALSE(engine_->ran_where_prepared(2));
  scheduler_->Submit({Task(3, WorkClass::kSync), Task(4, WorkClass::kSync)});
  WaitUntilDecoded();
  EXPECT_EQ(engine_->images(), 2u);
  engine_->OpenGate();
  for (const uint64_t id : {3u, 4u}) EXPECT_TRUE(results_.Wait(id).status.ok());
}

TEST_F(SchedulerTest, DecodedAsyncTasksGoByPriorityThenSubmission) {
  Start();
  Occupy(1);
  // All are within the look-ahead of 3, so they wait decoded.
  scheduler_->Submit({Task(10, WorkClass::kAsync, 0), Task(11, WorkClass::kAsync, 5),
                      Task(12, WorkClass::kAsync, 5)});
  while (scheduler_->stats().queued_async != 0) std::this_thread::sleep_for(1ms);
  WaitUntilDecoded();
  engine_->OpenGate();
  EXPECT_EQ(engine_->WaitForImages(4), (std::vector<int>{1, 11, 12, 10}));
}

TEST_F(SchedulerTest, SyncTasksGoAsTheyCameWhateverPriorityTheyCarry) {
  Start();
  Occupy(1, WorkClass::kSync);
  scheduler_->Submit({Task(10, WorkClass::kSync, 0), Task(11, WorkClass::kSync, 5)});
  WaitUntilDecoded();
  engine_->OpenGate();
  EXPECT_EQ(engine_->WaitForImages(3), (std::vector<int>{1, 10, 11}));
}

TEST_F(SchedulerTest, WaitingAsyncTasksAreDecodedByPriority) {
  Start();
  Occupy(1);
  std::vector<ImageTask> filler;
  for (uint64_t id = 2; id <= 4; ++id) filler.push_back(Task(id, WorkClass::kAsync, 9));
  scheduler_->Submit(std::move(filler));
  while (scheduler_->stats().queued_async != 0) std::this_thread::sleep_for(1ms);
  scheduler_->Submit({Task(30, WorkClass::kAsync, 1), Task(31, WorkClass::kAsync, 3),
                      Task(32, WorkClass::kAsync, 2)});
  EXPECT_EQ(scheduler_->stats().queued_async, 3u);
  for (int i = 0; i < 7; ++i) {
    WaitUntilDecoded();
    engine_->Step();
  }
  for (const uint64_t id : std::vector<uint64_t>{30, 31, 32}) results_.Wait(id);
  EXPECT_EQ(engine_->WaitForImages(7), (std::vector<int>{1, 2, 3, 4, 31, 32, 30}));
}

TEST_F(SchedulerTest, DecodesOnlySoFarAhead) {
  Start(2, 1);
  Occupy(1);
  std::vector<ImageTask> tasks;
  for (uint64_t id = 2; id <= 51; ++id) tasks.push_back(Task(id, WorkClass::kAsync));
  scheduler_->Submit(std::move(tasks));
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(scheduler_->stats().queued_async, 50u - 4u);  // 2 * batches + decode threads
  engine_->OpenGate();
  for (uint64_t id = 2; id <= 51; ++id) EXPECT_TRUE(results_.Wait(id).status.ok());
}

TEST_F(SchedulerTest, RunsNoMoreBatchesThanItMay) {
  Start(2, 2);
  std::vector<ImageTask> tasks;
  for (uint64_t id = 1; id <= 50; ++id) tasks.push_back(Task(id, WorkClass::kAsync));
  scheduler_->Submit(std::move(tasks));
  engine_->WaitForImages(2);
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(engine_->images(), 2u);
  engine_->OpenGate();
  for (uint64_t id = 1; id <= 50; ++id) results_.Wait(id);
  EXPECT_LE(engine_->most_running(), 2);
}

TEST_F(SchedulerTest, AnImageAloneIsWideAndSeveralHaveOneShareEach) {
  Start(2, ClassOptions{.slots = 2, .wide = 2});
  Occupy(1, WorkClass::kSync);
  scheduler_->Submit({Task(2, WorkClass::kSync), Task(3, WorkClass::kSync)});
  WaitUntilDecoded();
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(engine_->images(), 1u);  // it has all shares
  engine_->Step();
  engine_->WaitForImages(3);
  EXPECT_EQ(engine_->most_running(), 2);
  Submit(4, WorkClass::kSync);
  WaitUntilDecoded();
  engine_->Step();
  engine_->WaitForImages(4);  // beside the last of the two
  engine_->OpenGate();
  for (uint64_t id = 1; id <= 4; ++id) EXPECT_TRUE(results_.Wait(id).status.ok());
  std::vector<Width> widths = engine_->widths();
  EXPECT_EQ(widths, (std::vector<Width>{Width::kWide, Width::kOneShare, Width::kOneShare,
                                        Width::kOneShare}));
  // A slot is free a moment after the answer of its last image.
  for (uint64_t id = 5; id < 500 && widths.back() != Width::kWide; ++id) {
    std::this_thread::sleep_for(1ms);
    Submit(id, WorkClass::kSync);
    EXPECT_TRUE(results_.Wait(id).status.ok());
    widths = engine_->widths();
  }
  EXPECT_EQ(widths.back(), Width::kWide);
}

TEST_F(SchedulerTest, BatchesTakeWhatIsReadyUpToTheirLargest) {
  Start(1, 1, 2);
  Occupy(1);
  scheduler_->Submit(
      {Task(2, WorkClass::kAsync), Task(3, WorkClass::kAsync), Task(4, WorkClass::kAsync)});
  while (scheduler_->stats().queued_async != 0) std::this_thread::sleep_for(1ms);
  WaitUntilDecoded();
  engine_->OpenGate();
  for (uint64_t id = 1; id <= 4; ++id) {
    EXPECT_EQ(results_.Wait(id).detections.boxes.at(0).score, static_cast<float>(id) / 256);
  }
  EXPECT_EQ(engine_->batches(), (std::vector<size_t>{1, 2, 1}));
  EXPECT_EQ(results_.Wait(2).batch, 2);
}

TEST_F(SchedulerTest, CancelAnswersEveryStageAtOnce) {
  Start();
  Occupy(1);
  std::vector<ImageTask> tasks;
  for (uint64_t id = 2; id <= 10; ++id) tasks.push_back(Task(id, WorkClass::kAsync));
  scheduler_->Submit(std::move(tasks));
  while (scheduler_->stats().queued_async != 6) std::this_thread::sleep_for(1ms);
  WaitUntilDecoded();
  const std::array<uint64_t, 4> ids = {1, 2, 10, 99};  // inferring, ready, queued, unknown
  EXPECT_EQ(scheduler_->Cancel(ids), 1u);
  for (const uint64_t id : std::vector<uint64_t>{1, 2, 10})
    EXPECT_EQ(results_.Wait(id).status.code(), StatusCode::kCancelled);
  EXPECT_EQ(scheduler_->Cancel(ids), 0u);
  engine_->OpenGate();
  for (uint64_t id = 3; id <= 9; ++id) EXPECT_TRUE(results_.Wait(id).status.ok());
  scheduler_->Close();
  EXPECT_EQ(engine_->images(), 8u);  // neither 2 nor 10 reached the network
  EXPECT_EQ(scheduler_->stats().cancelled, 3u);
}

TEST_F(SchedulerTest, WhatWaitsPastItsDeadlineIsNotRun) {
  Start();
  Submit(1, WorkClass::kAsync, 0, 10'000);
  engine_->WaitForImages(1);
  std::vector<ImageTask> tasks;
  for (uint64_t id = 2; id <= 10; ++id)
    tasks.push_back(Task(id, WorkClass::kAsync, 0, id == 9 ? 0 : 20));
  scheduler_->Submit(std::move(tasks));
  std::this_thread::sleep_for(30ms);  // some are decoded, some are not
  engine_->OpenGate();
  for (const uint64_t id : std::vector<uint64_t>{2, 3, 4, 5, 6, 7, 8, 10}) {
    EXPECT_EQ(results_.Wait(id).status.code(), StatusCode::kDeadlineExceeded);
  }
  for (const uint64_t id : {1u, 9u}) EXPECT_TRUE(results_.Wait(id).status.ok());
  EXPECT_EQ(engine_->WaitForImages(2), (std::vector<int>{1, 9}));
}

TEST_F(SchedulerTest, AnIdMayComeAgainOnlyAfterItsAnswer) {
  Start();
  Occupy(1);
  EXPECT_EQ(scheduler_->Submit({Task(2, WorkClass::kSync), Task(1, WorkClass::kSync)}), 1u);
  EXPECT_EQ(scheduler_->Submit({Task(3, WorkClass::kSync), Task(3, WorkClass::kSync)}), 3u);
  engine_->OpenGate();
  results_.Wait(1);
  Submit(2, WorkClass::kSync);
  EXPECT_TRUE(results_.Wait(2).status.ok());
  EXPECT_FALSE(results_.Has(3));
}

TEST_F(SchedulerTest, FailuresStayWithTheirImage) {
  Start();
  engine_->OpenGate();
  ImageTask missing = Task(1, WorkClass::kSync);
  missing.pixels.reset();
  missing.path = "none.png";
  ImageTask unknown = Task(2, WorkClass::kSync);
  unknown.engine = nullptr;
  scheduler_->Submit({std::move(missing), std::move(unknown), Task(3, WorkClass::kAsync)});
  EXPECT_EQ(results_.Wait(1).status.code(), StatusCode::kImageNotFound);
  EXPECT_EQ(results_.Wait(2).status.code(), StatusCode::kUnknownModel);
  EXPECT_TRUE(results_.Wait(3).status.ok());
  engine_->Fail();
  Submit(4, WorkClass::kSync);
  EXPECT_EQ(results_.Wait(4).status.code(), StatusCode::kDetectionFailed);
  EXPECT_EQ(scheduler_->stats().failed, 3u);
}

TEST_F(SchedulerTest, PixelsMeetTheLimitsOfFiles) {
  Start();
  engine_->OpenGate();
  ImageTask wide = Task(1, WorkClass::kSync);
  wide.pixels = Image{20'000, 1, ByteBuffer(3 * 20'000, 1)};
  scheduler_->Submit({std::move(wide)});
  EXPECT_EQ(results_.Wait(1).status.code(), StatusCode::kImageTooLarge);
  ImageTask text = Task(2, WorkClass::kSync);
  text.pixels.reset();
  text.path = "shapes.json";
  scheduler_->Submit({std::move(text)});
  EXPECT_EQ(results_.Wait(2).status.code(), StatusCode::kUnsupportedImageFormat);
}

TEST(SchedulerDeathTest, AbortsOnTheSuffixOfTheTestHook) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto body = [] {
    const FileReader files(DemoFiles());
    const auto marker = *CrashMarker::Open("");
    SchedulerOptions options;
    options.abort_on_path_suffix = "shapes.png";
    Scheduler scheduler(options, files, *marker, [](const TaskResult&) {});
    ImageTask task;
    task.id = 1;
    task.engine = std::make_shared<GatedEngine>(ClassOptions{1});
    task.path = "shapes.png";
    scheduler.Submit({std::move(task)});
    std::this_thread::sleep_for(60s);
  };
  EXPECT_EXIT(body(), testing::KilledBySignal(SIGABRT), "");
}

TEST_F(SchedulerTest, CloseAnswersEverythingOnce) {
  Start();
  Occupy(1);
  Occupy(22, WorkClass::kSync);
  std::vector<ImageTask> tasks;
  for (uint64_t id = 2; id <= 20; ++id)
    tasks.push_back(Task(id, id % 3 == 0 ? WorkClass::kSync : WorkClass::kAsync));
  scheduler_->Submit(std::move(tasks));
  std::thread closing([this] { scheduler_->Close(); });
  for (uint64_t id = 2; id <= 20; ++id)
    EXPECT_EQ(results_.Wait(id).status.code(), StatusCode::kShuttingDown);
  engine_->OpenGate();
  closing.join();
  for (const uint64_t id : std::vector<uint64_t>{1, 22}) {
    EXPECT_TRUE(results_.Wait(id).status.ok());
  }
  Submit(21, WorkClass::kSync);
  EXPECT_EQ(results_.Wait(21).status.code(), StatusCode::kShuttingDown);
  scheduler_->Close();
}

// Many threads at once, for the thread sanitizer above all; every task gets one answer.
TEST_F(SchedulerTest, EveryTaskIsAnsweredOnceUnderSubmitsCancelsAndDeadlines) {
  Start(2, 2);
  engine_->OpenGate();
  std::vector<std::thread> clients;
  for (uint64_t client = 0; client < 4; ++client) {
    clients.emplace_back([this, client] {
      for (uint64_t i = 1; i <= 60; ++i) {
        const uint64_t id = client * 60 + i;
        const auto work_class = static_cast<WorkClass>(i % 2);
        const double deadline_ms = i % 7 == 0 ? 0.5 : 0;
        scheduler_->Submit({Task(id, work_class, static_cast<double>(i % 5), deadline_ms)});
        if (i % 4 == 0) scheduler_->Cancel({{id}});
        if (i % 16 == 0) (void)scheduler_->stats();
      }
    });
  }
  for (std::thread& client : clients) client.join();
  for (uint64_t id = 1; id <= 240; ++id) results_.Wait(id);
  scheduler_->Close();
  EXPECT_EQ(results_.size(), 240u);
}

}  // namespace
}  // namespace lattice
