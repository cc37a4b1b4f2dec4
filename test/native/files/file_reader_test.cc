#include "native/files/file_reader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "native/base/stopwatch.h"
#include "test/native/files/held_folder.h"

namespace lattice {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr VolumePatience kShort{milliseconds(300), milliseconds(50), milliseconds(100), 4};
constexpr size_t kBytes = 5 << 20;  // some calls

// Two image folders with a file each, the first of which can be held up.
class FileReaderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "file-reader-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    base_ = pattern;
    for (const char* root : {"gone", "well"}) {
      fs::create_directory(base_ / root);
      std::ofstream(base_ / root / (std::string(root) + ".jpg")) << std::string(kBytes, root[0]);
    }
  }
  void TearDown() override {
    held_.reset();
    fs::remove_all(base_);
  }

  std::unique_ptr<FileReader> Files(VolumePatience patience = kShort,
                                    size_t most_threads = 64) const {
    auto files = RootedFiles::Open({(base_ / "gone").string(), (base_ / "well").string()}, 1 << 24);
    EXPECT_TRUE(files.ok()) << files.status().message();
    return std::make_unique<FileReader>(*std::move(files), patience, most_threads);
  }
  std::string Path(const std::string& root) const { return base_ / root / (root + ".jpg"); }
  static Result<FileContent> Read(const FileReader& files, const std::string& path) {
    std::promise<Result<FileContent>> read;
    files.Read({path, {}, [&](Result<FileContent> file) { read.set_value(std::move(file)); }});
    return read.get_future().get();
  }
  StatusCode CodeOf(const FileReader& files, const std::string& root) const {
    return Read(files, Path(root)).status().code();
  }

  // Number of threads of this process.
  static auto Threads() {
    return std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator());
  }

  // Whether it is so within 10 s.
  static bool Becomes(const std::function<bool()>& so) {
    for (int i = 0; i < 1'000 && !so(); ++i) std::this_thread::sleep_for(milliseconds(10));
    return so();
  }

  fs::path base_;
  std::optional<HeldFolder> held_;
};

#define HOLD_UP(...)                                        \
  held_.emplace(base_ / "gone" __VA_OPT__(, ) __VA_ARGS__); \
  if (!held_->refused().empty()) GTEST_SKIP() << held_->refused()

TEST_F(FileReaderTest, ReadsAsRootedFilesDo) {
  const auto files = Files();
  const auto bytes = Read(*files, Path("well"));
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  EXPECT_EQ(bytes->bytes, ByteBuffer(kBytes, 'w'));
  EXPECT_TRUE(Read(*files, "well.jpg").ok());
  EXPECT_EQ(Read(*files, "none.jpg").status().code(), StatusCode::kImageNotFound);
  EXPECT_EQ(Read(*files, "../x").status().code(), StatusCode::kPathNotAllowed);
  EXPECT_EQ(Read(*files, Path("well") + "/").status().code(), StatusCode::kImageNotFound);
  EXPECT_TRUE(files->HangingRoots().empty());
}

TEST_F(FileReaderTest, AVolumeThatHangsIsGivenUpAndAnotherOneIsNotAffected) {
  const auto files = Files({milliseconds(300), std::chrono::hours(1), std::chrono::hours(1), 4});
  HOLD_UP();
  Stopwatch watch;
  const Status given_up = Read(*files, Path("gone")).status();
  EXPECT_GE(watch.Lap(), 300);
  EXPECT_EQ(given_up.code(), StatusCode::kVolumeUnavailable);
  EXPECT_EQ(given_up.message(), "The volume of image folder 1 of 2 does not answer.");
  EXPECT_EQ(files->HangingRoots(), std::vector<size_t>{0});
  EXPECT_TRUE(Read(*files, Path("well")).ok());
  // Further reads there are refused at once; a relative name looks in the folders in their order.
  watch.Lap();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(CodeOf(*files, "gone"), StatusCode::kVolumeUnavailable);
  EXPECT_EQ(Read(*files, "well.jpg").status().code(), StatusCode::kVolumeUnavailable);
  EXPECT_LT(watch.Lap(), 300);
}

TEST_F(FileReaderTest, AVolumeThatAnswersAgainIsUsedAgain) {
  const auto files = Files();
  for (const auto call : {HeldFolder::Call::kOpen, HeldFolder::Call::kRead}) {
    HOLD_UP(call);
    EXPECT_EQ(CodeOf(*files, "gone"), StatusCode::kVolumeUnavailable);
    EXPECT_EQ(files->HangingRoots(), std::vector<size_t>{0});
    held_.reset();
    EXPECT_TRUE(Becomes([&] { return Read(*files, Path("gone")).ok(); }));
    EXPECT_TRUE(files->HangingRoots().empty());
  }
}

// One read in a while is let through, and finds out that the volume answers.
TEST_F(FileReaderTest, ATrialFindsOutThatOneFileWasAtFault) {
  const auto files = Files();
  const fs::path other = base_ / "gone" / "deeper";
  fs::create_directory(other);
  std::ofstream(other / "fine.jpg") << "fine";
  HOLD_UP();
  EXPECT_EQ(CodeOf(*files, "gone"), StatusCode::kVolumeUnavailable);
  const std::string fine = other / "fine.jpg";
  EXPECT_EQ(Read(*files, fine).status().code(), StatusCode::kVolumeUnavailable);
  EXPECT_TRUE(Becomes([&] { return Read(*files, fine).ok(); }));
}

TEST_F(FileReaderTest, ASlowVolumeThatMakesProgressIsWaitedFor) {
  const auto files = Files();
  HOLD_UP(HeldFolder::Call::kRead, milliseconds(100));
  Stopwatch watch;
  EXPECT_TRUE(Read(*files, Path("gone")).ok());
  EXPECT_GT(watch.Lap(), 300) << "it was not slow";
  EXPECT_TRUE(files->HangingRoots().empty());
}

TEST_F(FileReaderTest, ManyFilesAreReadAtATimeAsFarAsThreadsGo) {
  for (const size_t threads : {20u, 6u}) {
    const auto files = Files({milliseconds(300), milliseconds(50), milliseconds(100), 4}, threads);
    HOLD_UP();
    std::atomic<int> answered = 0;
    for (int i = 0; i < 20; ++i) {
      files->Read({Path("gone"), {}, [&](const Result<FileContent>& file) {
                     EXPECT_EQ(file.status().code(), StatusCode::kVolumeUnavailable);
                     ++answered;
                   }});
    }
    EXPECT_TRUE(Becomes([&] { return held_->waiting() == threads; }));
    std::this_thread::sleep_for(milliseconds(20));
    EXPECT_EQ(held_->waiting(), threads);
    // Abandoned reads make way for those that wait, which are refused.
    EXPECT_TRUE(Becomes([&] { return answered == 20; }));
    EXPECT_TRUE(Read(*files, Path("well")).ok());
    held_.reset();
  }
}

TEST_F(FileReaderTest, WhatIsNotWantedIsNotRead) {
  const auto files = Files();
  for (const bool wanted : {false, true}) {
    std::promise<StatusCode> code;
    size_t asked = 0;
    files->Read({Path("well"),
                 [&](size_t bytes) {
                   asked = bytes;
                   return wanted;
                 },
                 [&](const Result<FileContent>& file) { code.set_value(file.status().code()); }});
    EXPECT_EQ(code.get_future().get(), wanted ? StatusCode::kOk : StatusCode::kCancelled);
    EXPECT_EQ(asked, kBytes);
  }
}

// Time in may_take is not the volume's.
TEST_F(FileReaderTest, ALongAnswerOfTheCallerIsNoHang) {
  const auto files = Files();
  std::promise<StatusCode> code;
  files->Read({Path("well"),
               [](size_t) {
                 std::this_thread::sleep_for(milliseconds(1'000));
                 return true;
               },
               [&](const Result<FileContent>& file) { code.set_value(file.status().code()); }});
  EXPECT_EQ(code.get_future().get(), StatusCode::kOk);
  EXPECT_TRUE(files->HangingRoots().empty());
}

TEST_F(FileReaderTest, CloseAnswersEveryRequestAndRefusesTheRest) {
  const auto files = Files({}, 8);
  HOLD_UP(HeldFolder::Call::kOpen, milliseconds(20));
  std::atomic<int> answered = 0;
  for (int i = 0; i < 20; ++i) {
    files->Read({Path("gone"), {}, [&](const Result<FileContent>& file) {
                   EXPECT_TRUE(file.ok()) << file.status().message();
                   ++answered;
                 }});
  }
  files->Close();
  EXPECT_EQ(answered, 20);
  EXPECT_EQ(CodeOf(*files, "well"), StatusCode::kShuttingDown);
  files->Close();
}

TEST_F(FileReaderTest, TheNumberOfAbandonedReadsIsBounded) {
  constexpr VolumePatience kHasty{milliseconds(300), milliseconds(1), milliseconds(2), 6};
  constexpr int kCallers = 4;
  const auto files = Files(kHasty);
  const auto before = Threads();
  HOLD_UP();
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < kCallers; ++i) {
      callers.emplace_back([&] {
        for (int j = 0; j < 300; ++j) {
          EXPECT_EQ(CodeOf(*files, "gone"), StatusCode::kVolumeUnavailable);
          std::this_thread::sleep_for(milliseconds(1));
        }
      });
    }
  }
  // Reads that were in work when the volume was found to hang are abandoned whatever their number.
  EXPECT_LE(Threads(), before + kCallers + kCallers + kHasty.most_abandoned);
  EXPECT_TRUE(Read(*files, Path("well")).ok());
  held_.reset();
  EXPECT_TRUE(Becomes([&] { return Read(*files, Path("gone")).ok(); }));
  EXPECT_TRUE(Becomes([&] { return Threads() <= before + kCallers; }));
}

TEST_F(FileReaderTest, CloseDoesNotWaitForAbandonedReads) {
  Files().reset();  // a sanitizer's own thread comes with the first one
  const auto before = Threads();
  auto files = Files();
  HOLD_UP();
  EXPECT_EQ(CodeOf(*files, "gone"), StatusCode::kVolumeUnavailable);
  files.reset();
  held_.reset();
  EXPECT_TRUE(Becomes([&] { return Threads() <= before; }));
}

}  // namespace
}  // namespace lattice
