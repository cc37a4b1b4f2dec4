#include "native/engine_cache/private_folder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "test/native/engine_cache/engine_folder.h"

namespace lattice {
namespace {

constexpr uid_t kAnotherUser = 65534;

Status ReplaceBy(const PrivateFolder& folder, const std::string& name, const std::string& bytes) {
  const std::array<std::span<const char>, 1> parts = {std::span<const char>(bytes)};
  return folder.Replace(name, parts);
}

mode_t ModeOf(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

TEST(PrivateFolderTest, IsMadeForItsOwnerAlone) {
  const TemporaryFolder above;
  ASSERT_TRUE(PrivateFolder::Open(above / "engines/").ok());
  EXPECT_EQ(ModeOf(above / "engines"), 0700u);
  EXPECT_TRUE(PrivateFolder::Open(above / "engines").ok());
}

// The folder of the whole sentence shows as its last name only.
void ExpectRefused(const TemporaryFolder& above, const std::string& path, const std::string& why) {
  const auto opened = PrivateFolder::Open(path);
  ASSERT_FALSE(opened.ok()) << path;
  EXPECT_EQ(opened.status().code(), StatusCode::kInternalError);
  EXPECT_NE(opened.status().message().find(why), std::string::npos) << opened.status().message();
  EXPECT_EQ(opened.status().message().find(above.path()), std::string::npos);
}

TEST(PrivateFolderTest, RefusesWhatOthersCouldWriteTo) {
  const TemporaryFolder above;
  WriteWhole(above / "file", "");
  ExpectRefused(above, above / "file", "'file' is a file");
  ExpectRefused(above, above / "none/engines", "cannot be made");
  ASSERT_TRUE(PrivateFolder::Open(above / "engines").ok());
  for (const mode_t mode : {0720u, 0702u, 0777u}) {
    chmod((above / "engines").c_str(), mode);
    ExpectRefused(above, above / "engines", "chmod go-w engines");
  }
  chmod((above / "engines").c_str(), 0755);
  EXPECT_TRUE(PrivateFolder::Open(above / "engines").ok());
}

TEST(PrivateFolderTest, RefusesWhatAnotherUserOwns) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files to another user";
  const TemporaryFolder above;
  const auto folder = PrivateFolder::Open(above / "engines");
  ASSERT_TRUE(folder.ok());
  ASSERT_TRUE(ReplaceBy(*folder, "a", "bytes").ok());
  ASSERT_EQ(chown((above / "engines/a").c_str(), kAnotherUser, kAnotherUser), 0);
  const auto file = folder->OpenFile("a");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->state, FileState::kForeign);
  EXPECT_NE(file->reason.find("a belongs to another user"), std::string::npos) << file->reason;
  ASSERT_EQ(chown((above / "engines").c_str(), kAnotherUser, kAnotherUser), 0);
  ExpectRefused(above, above / "engines", "belongs to another user");
}

TEST(PrivateFolderTest, OpensPlainFilesOfItsOwnerOnly) {
  const TemporaryFolder above;
  const auto folder = PrivateFolder::Open(above.path());
  ASSERT_TRUE(folder.ok());
  const auto state = [&](const std::string& name) {
    const auto file = folder->OpenFile(name);
    return file.ok() ? file->state : FileState::kAbsent;
  };
  EXPECT_EQ(state("a"), FileState::kAbsent);
  ASSERT_TRUE(ReplaceBy(*folder, "a", "bytes").ok());
  EXPECT_EQ(state("a"), FileState::kReady);
  EXPECT_EQ(ModeOf(above / "a"), 0600u);
  chmod((above / "a").c_str(), 0644);
  EXPECT_EQ(state("a"), FileState::kReady);
  for (const mode_t mode : {0620u, 0602u, 0666u}) {
    chmod((above / "a").c_str(), mode);
    EXPECT_EQ(state("a"), FileState::kForeign) << std::oct << mode;
  }
  std::filesystem::create_symlink("a", above / "link");
  std::filesystem::create_symlink("none", above / "dangling");
  std::filesystem::create_directory(above / "folder");
  ASSERT_EQ(mkfifo((above / "fifo").c_str(), 0600), 0);
  for (const char* name : {"link", "dangling", "folder", "fifo"}) {
    EXPECT_EQ(state(name), FileState::kForeign) << name;
  }
}

TEST(PrivateFolderTest, ReplacesWholeFilesPastALeftover) {
  const TemporaryFolder above;
  const auto folder = PrivateFolder::Open(above.path());
  ASSERT_TRUE(folder.ok());
  WriteWhole(above / "a.partial", "left by a broken-off write");
  const std::array<std::span<const char>, 3> parts = {std::string_view("one"), std::string_view(),
                                                      std::string_view(" two")};
  ASSERT_TRUE(folder->Replace("a", parts).ok());
  EXPECT_EQ(ReadWhole(above / "a"), "one two");
  ASSERT_TRUE(ReplaceBy(*folder, "a", "three").ok());
  EXPECT_EQ(ReadWhole(above / "a"), "three");
  EXPECT_EQ(*folder->Names(), std::vector<std::string>{"a"});
}

// The limit on the size of files stands in for a full disk.
TEST(PrivateFolderTest, AFullDiskLeavesTheFileThatWasThere) {
  const TemporaryFolder above;
  const auto folder = PrivateFolder::Open(above.path());
  ASSERT_TRUE(folder.ok());
  ASSERT_TRUE(ReplaceBy(*folder, "a", "before").ok());
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {5000, 5000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const Status status = ReplaceBy(*folder, "a", std::string(20'000, 'x'));
    const bool told = status.code() == StatusCode::kInternalError &&
                      status.message().find("a cannot be stored: ") == 0;
    _exit(told ? 0 : 1);
  }
  int outcome = -1;
  ASSERT_EQ(waitpid(child, &outcome, 0), child);
  EXPECT_EQ(outcome, 0);
  EXPECT_EQ(ReadWhole(above / "a"), "before");
  EXPECT_EQ(*folder->Names(), std::vector<std::string>{"a"});
}

TEST(PrivateFolderTest, SaysSoWhenItIsGone) {
  const TemporaryFolder above;
  const auto folder = PrivateFolder::Open(above / "engines");
  ASSERT_TRUE(folder.ok());
  std::filesystem::remove(above / "engines");
  EXPECT_EQ(ReplaceBy(*folder, "a", "bytes").code(), StatusCode::kInternalError);
  EXPECT_FALSE(folder->MarkUsed("a").ok());
  EXPECT_TRUE(folder->Remove("a").ok());
}

}  // namespace
}  // namespace lattice
