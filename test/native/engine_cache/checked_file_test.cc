#include "native/engine_cache/checked_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "test/native/engine_cache/engine_folder.h"

namespace lattice {
namespace {

constexpr std::string_view kMagic = "LATENGIN";
constexpr uid_t kAnotherUser = 65534;

class CheckedFileTest : public testing::Test {
 protected:
  bool IsRead(std::string_view magic = kMagic) const {
    return ReadCheckedFile(path_, magic).has_value();
  }
  Status Write(const std::string& payload) const {
    return WriteCheckedFile(path_, kMagic, text_, payload);
  }
  std::string Written() const {
    EXPECT_TRUE(Write(payload_).ok());
    return ReadWhole(path_);
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "a";
  std::string text_ = "{\"one\":1}";
  std::string payload_ = std::string("pay\0load", 8) + std::string(100, 'p');
};

TEST_F(CheckedFileTest, ComesBack) {
  EXPECT_FALSE(IsRead());
  for (const std::string& payload : {payload_, std::string(), std::string(100'000, 'x')}) {
    ASSERT_TRUE(Write(payload).ok());
    const auto file = ReadCheckedFile(path_, kMagic);
    ASSERT_TRUE(file.has_value());
    EXPECT_EQ(file->text, text_);
    EXPECT_EQ(std::string(file->payload.begin(), file->payload.end()), payload);
  }
  struct stat info;
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  EXPECT_FALSE(IsRead("LATTIMNG"));
}

TEST_F(CheckedFileTest, NoChangedByteIsAccepted) {
  const std::string bytes = Written();
  std::mt19937 random(5);
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ (1 << random() % 8));
    WriteWhole(path_, changed);
    EXPECT_FALSE(IsRead()) << at;
  }
}

TEST_F(CheckedFileTest, NoOtherLengthIsAccepted) {
  const std::string bytes = Written();
  for (size_t size = 0; size < bytes.size(); ++size) {
    WriteWhole(path_, bytes.substr(0, size));
    EXPECT_FALSE(IsRead()) << size;
  }
  WriteWhole(path_, bytes + "x");
  EXPECT_FALSE(IsRead());
}

TEST_F(CheckedFileTest, RandomBytesAreNeverAccepted) {
  std::mt19937 random(9);
  for (int round = 0; round < 300; ++round) {
    std::string bytes(random() % 300, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    // Half of them look right at the start.
    if (round % 2 == 0) bytes = std::string(kMagic) + std::string("\2\0\0\0", 4) + bytes;
    WriteWhole(path_, bytes);
    EXPECT_FALSE(IsRead()) << round;
  }
}

TEST_F(CheckedFileTest, WhatAnotherUserCouldHaveWrittenIsNotRead) {
  Written();
  chmod(path_.c_str(), 0644);
  EXPECT_TRUE(IsRead());
  for (const mode_t mode : {0620u, 0602u, 0666u}) {
    chmod(path_.c_str(), mode);
    EXPECT_FALSE(IsRead()) << std::oct << mode;
  }
  chmod(path_.c_str(), 0600);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(path_.c_str(), kAnotherUser, kAnotherUser), 0);
    EXPECT_FALSE(IsRead());
  }
}

TEST_F(CheckedFileTest, LinksFoldersAndPipesAreNotRead) {
  Written();
  std::filesystem::rename(path_, folder_ / "b");
  std::filesystem::create_symlink("b", path_);
  EXPECT_FALSE(IsRead());
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_FALSE(IsRead());
  std::filesystem::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_FALSE(IsRead());
}

TEST_F(CheckedFileTest, ReplacesWholeFilesWhateverAKilledBuildLeft) {
  WriteWhole(folder_ / "a.partial", "half");
  WriteWhole(path_, "no such file");
  Written();
  EXPECT_TRUE(IsRead());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.partial"));
}

// The limit on the size of files takes the place of a full disk.
TEST_F(CheckedFileTest, AFullDiskLeavesTheFileThatWasThere) {
  const std::string before = Written();
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {5000, 5000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const Status status = Write(std::string(20'000, 'x'));
    const bool told = status.code() == StatusCode::kInternalError &&
                      status.message().find("a cannot be stored: File too large.") == 0;
    _exit(told ? 0 : 1);
  }
  int outcome = -1;
  ASSERT_EQ(waitpid(child, &outcome, 0), child);
  EXPECT_EQ(outcome, 0);
  EXPECT_EQ(ReadWhole(path_), before);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.partial"));
}

TEST_F(CheckedFileTest, AReadMarksTheFileAsUsed) {
  Written();
  const auto now = std::filesystem::file_time_type::clock::now();
  std::filesystem::last_write_time(path_, now - std::chrono::hours(1000));
  EXPECT_TRUE(IsRead());
  EXPECT_GT(std::filesystem::last_write_time(path_), now - std::chrono::hours(1));
}

// src/inference/models/engine-file.ts is tested with the same file. A mismatch means that the
// layout has changed: raise the format version, and take the bytes that this test leaves.
TEST_F(CheckedFileTest, TheSampleOfBothReadersIsWhatIsWritten) {
  const EngineHeader header = SampleHeader();
  const std::string plan = "the plan of an engine";
  ASSERT_TRUE(WriteCheckedFile(path_, kMagic, HeaderText(header), plan).ok());
  const std::string name = EngineStem(header.key) + ".engine";
  if (ReadWhole(path_) == ReadWhole(LATTICE_SOURCE_DIR "/test/support/engines/" + name)) return;
  const std::string left = testing::TempDir() + name;
  WriteWhole(left, ReadWhole(path_));
  FAIL() << "test/support/engines/" << name << " differs from " << left;
}

}  // namespace
}  // namespace lattice
