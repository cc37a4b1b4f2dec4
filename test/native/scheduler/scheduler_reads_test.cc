// Files that are read ahead of decoding.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <random>
#include <thread>

#include "native/scheduler/scheduler.h"
#include "test/native/files/held_folder.h"
#include "test/native/scheduler/gated_engine.h"
#include "test/native/scheduler/task_results.h"

namespace lattice {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using test::GatedEngine;
using test::TaskResults;

constexpr int kDecodeThreads = 2;
constexpr size_t kFilesAhead = 8 * kDecodeThreads;  // as SchedulerOptions::ReadAhead

// Two image folders with a picture each, the first of which can be held up.
class SchedulerReadsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(InitDecoders().ok());
    std::string pattern = (fs::temp_directory_path() / "reads-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    base_ = pattern;
    for (const char* root : {"far", "near"}) {
      fs::create_directory(base_ / root);
      fs::copy(LATTICE_SOURCE_DIR "/models/demo/shapes.png", base_ / root);
    }
    file_bytes_ = fs::file_size(base_ / "near" / "shapes.png");
  }
  void TearDown() override {
    held_.reset();
    if (engine_ != nullptr) engine_->OpenGate();
    scheduler_.reset();
    files_.reset();
    fs::remove_all(base_);
  }

  void Start(size_t async_file_bytes = 1 << 20, milliseconds patience = milliseconds(300)) {
    scheduler_.reset();
    results_ = std::make_unique<TaskResults>();
    auto files = RootedFiles::Open({(base_ / "far").string(), (base_ / "near").string()}, 1 << 24);
    files_ = std::make_unique<FileReader>(*std::move(files),
                                          VolumePatience{.without_progress = patience});
    engine_ = std::make_shared<GatedEngine>(ClassOptions{2});
    SchedulerOptions schedule{kDecodeThreads, {1}, {1}};
    schedule.async_file_bytes = async_file_bytes;
    scheduler_ = std::make_unique<Scheduler>(
        schedule, *files_, *marker_,
        [this](TaskResult result) { results_->Add(std::move(result)); });
  }

  void Submit(uint64_t id, const char* root, WorkClass work_class = WorkClass::kAsync,
              double deadline_ms = 0, const char* name = "shapes.png") {
    ImageTask task;
    task.id = id;
    task.engine = engine_;
    task.path = base_ / root / name;
    task.work_class = work_class;
    task.deadline_ms = deadline_ms;
    EXPECT_EQ(scheduler_->Submit({std::move(task)}), 0u);
  }

  StatusCode CodeOf(uint64_t id) { return results_->Wait(id).status.code(); }

  // Whether it is so within 10 s.
  static bool Becomes(const std::function<bool()>& so) {
    for (int i = 0; i < 10'000 && !so(); ++i) std::this_thread::sleep_for(milliseconds(1));
    return so();
  }

  fs::path base_;
  size_t file_bytes_ = 0;
  std::optional<HeldFolder> held_;
  std::unique_ptr<FileReader> files_;
  std::unique_ptr<CrashMarker> marker_ = *CrashMarker::Open("");
  std::unique_ptr<TaskResults> results_;
  std::shared_ptr<GatedEngine> engine_;
  std::unique_ptr<Scheduler> scheduler_;
};

#define HOLD_UP(...)                                                                \
  held_.emplace(base_ / "far", HeldFolder::Call::kOpen __VA_OPT__(, ) __VA_ARGS__); \
  if (!held_->refused().empty()) GTEST_SKIP() << held_->refused()

TEST_F(SchedulerReadsTest, WaitingForAFileIsPartOfDecoding) {
  Start(1 << 20, std::chrono::minutes(10));
  engine_->OpenGate();
  HOLD_UP(milliseconds(60));
  for (uint64_t id = 1; id <= 2 * kFilesAhead; ++id) Submit(id, "far");
  for (uint64_t id = 1; id <= 2 * kFilesAhead; ++id) {
    const TaskResult result = results_->Wait(id);
    ASSERT_TRUE(result.status.ok()) << result.status.message();
    EXPECT_GE(result.times.decode, 60);
    EXPECT_LE(result.times.queue + result.times.decode, result.total_ms + 0.01);
  }
}

TEST_F(SchedulerReadsTest, ResultsSayWhichFileWasRead) {
  Start();
  engine_->OpenGate();
  std::ofstream(base_ / "near/damaged.png") << "no picture";
  Submit(1, "near");
  Submit(2, "near", WorkClass::kSync, 0, "damaged.png");
  Submit(3, "near", WorkClass::kSync, 0, "none.png");
  const auto stamp_of = [&](const char* name) {
    struct stat entry;
    EXPECT_EQ(stat((base_ / "near" / name).c_str(), &entry), 0);
    return FileStamp::Of(entry);
  };
  EXPECT_EQ(results_->Wait(1).file.stamp, stamp_of("shapes.png"));
  EXPECT_EQ(results_->Wait(1).file.sha256, "");
  // An image that cannot be used was a file too: it may have been one that is still being written.
  EXPECT_FALSE(results_->Wait(2).status.ok());
  EXPECT_EQ(results_->Wait(2).file.stamp, stamp_of("damaged.png"));
  EXPECT_GT(results_->Wait(2).file.read_ns, 0);
  EXPECT_EQ(results_->Wait(3).file.read_ns, 0);
}

TEST_F(SchedulerReadsTest, TheDigestOfAFileIsToldWhereItIsAskedFor) {
  Start();
  std::ofstream(base_ / "near/abc") << "abc";
  ImageTask task;
  task.id = 1;
  task.engine = engine_;
  task.path = base_ / "near/abc";
  task.digest = true;
  EXPECT_EQ(scheduler_->Submit({std::move(task)}), 0u);
  EXPECT_EQ(results_->Wait(1).file.sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(SchedulerReadsTest, AVolumeThatDoesNotAnswerHoldsNobodyUpElsewhere) {
  Start(1 << 20, std::chrono::minutes(10));
  engine_->OpenGate();
  HOLD_UP();
  for (uint64_t id = 1; id <= 20; ++id) Submit(id, "far", WorkClass::kSync);
  ASSERT_TRUE(Becomes([&] { return held_->waiting() == 20; }));
  for (uint64_t id = 21; id <= 40; ++id) Submit(id, "near", WorkClass::kSync);
  for (uint64_t id = 21; id <= 40; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kOk);
  EXPECT_EQ(scheduler_->stats().queued_sync, 20u);
  held_.reset();
  for (uint64_t id = 1; id <= 20; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kOk);
}

TEST_F(SchedulerReadsTest, ReadsOnlySoFarAhead) {
  Start(1 << 20, std::chrono::minutes(10));
  engine_->OpenGate();
  HOLD_UP();
  for (uint64_t id = 1; id <= 100; ++id) Submit(id, "far");
  ASSERT_TRUE(Becomes([&] { return held_->waiting() >= kFilesAhead; }));
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(held_->waiting(), kFilesAhead);
  EXPECT_EQ(scheduler_->stats().queued_async, 100u);
  held_.reset();
  for (uint64_t id = 1; id <= 100; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kOk);
}

TEST_F(SchedulerReadsTest, CancelsAreKeptWhileAFileIsReadAndDeadlinesBehindIt) {
  Start(1 << 20, std::chrono::minutes(10));
  engine_->OpenGate();
  HOLD_UP();
  Submit(1, "far", WorkClass::kSync);
  Submit(2, "far", WorkClass::kSync, 30);
  Submit(3, "far");
  Submit(4, "far", WorkClass::kAsync, 30);
  std::this_thread::sleep_for(milliseconds(40));
  EXPECT_EQ(scheduler_->Cancel({{1, 3}}), 2u);
  EXPECT_EQ(CodeOf(1), StatusCode::kCancelled);
  EXPECT_EQ(CodeOf(3), StatusCode::kCancelled);
  held_.reset();
  EXPECT_EQ(CodeOf(2), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(CodeOf(4), StatusCode::kDeadlineExceeded);
  // The ids may be used again: a late result belongs to no task.
  for (uint64_t id = 1; id <= 4; ++id) Submit(id + 10, "far");
  for (uint64_t id = 1; id <= 4; ++id) EXPECT_EQ(CodeOf(id + 10), StatusCode::kOk);
  EXPECT_EQ(engine_->images(), 4u);
}

TEST_F(SchedulerReadsTest, TheEndWaitsForAReadNoLongerThanTheVolumeIsWaitedFor) {
  Start();
  HOLD_UP();
  Submit(1, "far", WorkClass::kSync);
  for (uint64_t id = 2; id <= 30; ++id) Submit(id, "far");
  ASSERT_TRUE(Becomes([&] { return held_->waiting() > 0; }));
  Stopwatch watch;
  scheduler_->Close();
  EXPECT_LT(watch.Lap(), 5'000);
  for (uint64_t id = 1; id <= 30; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kShuttingDown);
}

TEST_F(SchedulerReadsTest, FilesThatWaitHoldNoMoreThanTheirBytes) {
  Start(5 * file_bytes_ / 2);
  for (uint64_t id = 1; id <= 40; ++id) Submit(id, "near");
  engine_->WaitForImages(1);
  ASSERT_TRUE(Becomes([&] { return scheduler_->stats().held_file_bytes == 2 * file_bytes_; }));
  Submit(50, "near", WorkClass::kSync);  // passes whatever jobs hold
  engine_->WaitForImages(2);
  EXPECT_EQ(scheduler_->stats().held_file_bytes, 2 * file_bytes_);
  engine_->OpenGate();
  for (uint64_t id = 1; id <= 40; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kOk);
  EXPECT_EQ(scheduler_->stats().held_file_bytes, 0u);
}

TEST_F(SchedulerReadsTest, AFileLargerThanAllBytesIsReadAlone) {
  Start(file_bytes_ / 2);
  engine_->OpenGate();
  for (uint64_t id = 1; id <= 40; ++id) Submit(id, "near");
  for (uint64_t id = 1; id <= 40; ++id) {
    EXPECT_EQ(CodeOf(id), StatusCode::kOk);
    EXPECT_LE(scheduler_->stats().held_file_bytes, file_bytes_);
  }
}

// Files of all sizes, some of them no pictures or not there, with priorities, cancels, deadlines
// and the end in any order: never more than the bytes or one file, nothing lost, and all bytes
// back.
TEST_F(SchedulerReadsTest, HoldsTheBytesWhateverHappens) {
  constexpr size_t kBytes = 10'000;
  for (int i = 0; i < 10; ++i) {
    std::ofstream(base_ / "near" / std::to_string(i))
        << std::string(static_cast<size_t>(2000 * i), 'x');
  }
  for (unsigned seed = 0; seed < 25; ++seed) {
    std::mt19937 random(seed);
    Start(kBytes);
    engine_->OpenGate();
    const uint64_t count = 150;
    const bool ends_early = random() % 4 == 0;
    const auto check = [&] {
      EXPECT_LE(scheduler_->stats().held_file_bytes, size_t{18'000}) << seed;
    };
    for (uint64_t id = 1; id <= count; ++id) {
      const auto work_class = random() % 5 == 0 ? WorkClass::kSync : WorkClass::kAsync;
      const double deadline_ms = random() % 10 == 0 ? 1 + random() % 5 : 0;
      const std::string other = random() % 10 == 0 ? "none" : std::to_string(random() % 10);
      Submit(id, "near", work_class, deadline_ms, random() % 2 == 0 ? "shapes.png" : other.c_str());
      if (random() % 8 == 0) scheduler_->Cancel({{1 + random() % id}});
      if (random() % 8 == 0) std::this_thread::sleep_for(milliseconds(1));
      if (ends_early && id == count / 2) scheduler_->Close();
      check();
    }
    for (uint64_t id = 1; id <= count; ++id) results_->Wait(id);
    scheduler_->Close();
    ASSERT_EQ(results_->size(), count);
    const SchedulerStats stats = scheduler_->stats();
    ASSERT_EQ(stats.held_file_bytes + stats.held_bytes, 0u) << seed;
    ASSERT_EQ(stats.queued_async + stats.queued_sync + stats.decoding + stats.inferring, 0u);
  }
}

}  // namespace
}  // namespace lattice
