#include "native/engine_cache/engine_cache.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "test/native/engine_cache/temporary_folder.h"

namespace lattice {
namespace {

using namespace std::chrono_literals;

constexpr uid_t kAnotherUser = 65534;
const std::string kName = "vehicles.engine";

std::string Text(const std::optional<std::vector<char>>& bytes) {
  return bytes ? std::string(bytes->begin(), bytes->end()) : "(none)";
}

class EngineCacheTest : public testing::Test {
 protected:
  Status Store(const std::string& name, std::string_view plan) { return cache_.Store(name, plan); }
  std::string Load(const std::string& name) { return Text(cache_.Load(name)); }
  std::string PathOf(const std::string& name) { return folder_ / name; }

  TemporaryFolder folder_;
  EngineCache cache_ = *EngineCache::Open(folder_.path());
};

TEST_F(EngineCacheTest, AnEngineComesBackUnderItsNameOnly) {
  EXPECT_EQ(Load(kName), "(none)");
  ASSERT_TRUE(Store(kName, "plan").ok());
  EXPECT_EQ(Load(kName), "plan");
  EXPECT_EQ(Load("other.engine"), "(none)");
}

TEST_F(EngineCacheTest, APlanOfAnyLengthComesBackAsTheWholeFile) {
  for (const std::string& plan :
       {std::string(), std::string("pl\0an", 5), std::string(9'999, 'x')}) {
    ASSERT_TRUE(Store(kName, plan).ok());
    EXPECT_EQ(Load(kName), plan);
    EXPECT_EQ(ReadWhole(PathOf(kName)), plan);
  }
  struct stat info;
  ASSERT_EQ(stat(PathOf(kName).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
}

TEST_F(EngineCacheTest, WhatAnotherUserCouldHaveWrittenIsNotRead) {
  ASSERT_TRUE(Store(kName, "plan").ok());
  const std::string path = PathOf(kName);
  chmod(path.c_str(), 0644);
  EXPECT_EQ(Load(kName), "plan");
  for (const mode_t mode : {0620u, 0602u, 0666u}) {
    chmod(path.c_str(), mode);
    EXPECT_EQ(Load(kName), "(none)") << std::oct << mode;
  }
  chmod(path.c_str(), 0600);
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files to another user";
  ASSERT_EQ(chown(path.c_str(), kAnotherUser, kAnotherUser), 0);
  EXPECT_EQ(Load(kName), "(none)");
}

TEST_F(EngineCacheTest, LinksFoldersAndPipesAreNotRead) {
  ASSERT_TRUE(Store(kName, "plan").ok());
  const std::string path = PathOf(kName);
  std::filesystem::rename(path, folder_ / "b");
  std::filesystem::create_symlink("b", path);
  EXPECT_EQ(Load(kName), "(none)");
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_EQ(Load(kName), "(none)");
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(Load(kName), "(none)");
}

TEST_F(EngineCacheTest, ReplacesWhatAKilledBuildLeft) {
  WriteWhole(PathOf(kName) + ".partial", "half");
  ASSERT_TRUE(Store(kName, "plan").ok());
  EXPECT_EQ(Load(kName), "plan");
  EXPECT_FALSE(std::filesystem::exists(PathOf(kName) + ".partial"));
}

// The limit on the size of files takes the place of a full disk.
TEST_F(EngineCacheTest, AFullDiskLeavesTheFileThatWasThere) {
  ASSERT_TRUE(Store(kName, "plan").ok());
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {5000, 5000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const Status status = Store(kName, std::string(20'000, 'x'));
    const std::string sentence = kName + " cannot be stored: File too large.";
    _exit(status.code() == StatusCode::kInternalError && status.message() == sentence ? 0 : 1);
  }
  int outcome = -1;
  ASSERT_EQ(waitpid(child, &outcome, 0), child);
  EXPECT_EQ(outcome, 0);
  EXPECT_EQ(Load(kName), "plan");
  EXPECT_FALSE(std::filesystem::exists(PathOf(kName) + ".partial"));
}

TEST_F(EngineCacheTest, AReadMarksTheFileAsUsed) {
  ASSERT_TRUE(Store(kName, "plan").ok());
  const auto now = std::filesystem::file_time_type::clock::now();
  std::filesystem::last_write_time(PathOf(kName), now - std::chrono::hours(1000));
  EXPECT_EQ(Load(kName), "plan");
  EXPECT_GT(std::filesystem::last_write_time(PathOf(kName)), now - std::chrono::hours(1));
}

TEST_F(EngineCacheTest, ALinkIsReplacedAndItsTargetStays) {
  WriteWhole(folder_ / "elsewhere", "theirs");
  std::filesystem::create_symlink("elsewhere", PathOf(kName));
  ASSERT_TRUE(Store(kName, "plan").ok());
  EXPECT_EQ(Load(kName), "plan");
  EXPECT_EQ(ReadWhole(folder_ / "elsewhere"), "theirs");
}

TEST_F(EngineCacheTest, ReadersSeeWholeEnginesWhileTheyAreReplaced) {
  const auto plan = [](int version) { return std::string(50'000, static_cast<char>(version)); };
  ASSERT_TRUE(Store(kName, plan(0)).ok());
  std::atomic<bool> done = false;
  std::atomic<int> reads = 0;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      while (!done) {
        const auto read = cache_.Load(kName);
        if (!read || Text(read) != plan(read->front())) ++wrong;
        ++reads;
      }
    });
  }
  for (int version = 1; version <= 40 || reads < 40; ++version) {
    ASSERT_TRUE(Store(kName, plan(version % 100)).ok());
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(EngineCacheTest, ALockExcludesUntilItEnds) {
  {
    const auto first = cache_.Lock(kName, Clock::now());
    ASSERT_TRUE(first.ok()) << first.status().message();
    const auto before = Clock::now();
    const auto second = cache_.Lock(kName, before + 30ms);
    EXPECT_EQ(second.status().code(), StatusCode::kDeadlineExceeded);
    EXPECT_GE(Clock::now() - before, 30ms);
    EXPECT_TRUE(cache_.Lock("other.engine", Clock::now()).ok());
  }
  EXPECT_TRUE(cache_.Lock(kName, Clock::now()).ok());
}

TEST_F(EngineCacheTest, AWaitForALockIsCancelledLongBeforeItsDeadline) {
  int asked = 0;
  const auto go_on = [&asked] { return ++asked < 3; };
  EXPECT_TRUE(cache_.Lock(kName, Clock::now(), [] { return false; }).ok());
  const auto held = cache_.Lock(kName, Clock::now());
  const auto before = Clock::now();
  const auto lock = cache_.Lock(kName, before + 60s, go_on);
  EXPECT_EQ(lock.status().code(), StatusCode::kCancelled);
  EXPECT_EQ(asked, 3);
  EXPECT_LT(Clock::now() - before, 10s);
}

TEST_F(EngineCacheTest, ALockFileThatIsALinkOrAFolderIsRefused) {
  const std::string path = folder_ / (kName + ".lock");
  std::filesystem::create_symlink("elsewhere", path);
  EXPECT_EQ(cache_.Lock(kName, Clock::now()).status().code(), StatusCode::kInternalError);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "elsewhere"));
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_EQ(cache_.Lock(kName, Clock::now()).status().code(), StatusCode::kInternalError);
}

// What a process does that wants the engine. `builds` gets a byte per build.
bool Obtain(const std::string& folder, const std::string& name, bool dies) {
  const auto cache = EngineCache::Open(folder);
  if (!cache.ok()) return false;
  const auto lock = cache->Lock(name, Clock::now() + 20s);
  if (!lock.ok()) return false;
  if (const auto stored = cache->Load(name)) return Text(stored) == "plan";
  std::ofstream(folder + "/builds", std::ios::app) << '.' << std::flush;
  if (dies) kill(getpid(), SIGKILL);
  std::this_thread::sleep_for(30ms);
  return cache->Store(name, std::string_view("plan")).ok();
}

TEST_F(EngineCacheTest, ManyProcessesBuildOnceAndOnceMoreForOneThatIsKilled) {
  const auto start = [&](bool dies) {
    const pid_t child = fork();
    if (child == 0) _exit(Obtain(folder_.path(), kName, dies) ? 0 : 1);
    return child;
  };
  const auto outcome = [](pid_t child) {
    int status = -1;
    waitpid(child, &status, 0);
    return status;
  };
  // The first one dies with the lock in hand while the others wait for it.
  const pid_t killed = start(true);
  while (ReadWhole(folder_ / "builds").empty()) std::this_thread::sleep_for(1ms);
  std::vector<pid_t> children;
  for (int i = 0; i < 5; ++i) children.push_back(start(false));
  EXPECT_TRUE(WIFSIGNALED(outcome(killed)));
  for (const pid_t child : children) EXPECT_EQ(outcome(child), 0);
  EXPECT_EQ(ReadWhole(folder_ / "builds"), "..");
}

TEST_F(EngineCacheTest, OfMoreFilesThanAreKeptThoseUsedLastStay) {
  const auto now = std::filesystem::file_time_type::clock::now();
  for (int i = 0; i < 5; ++i) {
    const std::string name = std::to_string(i) + ".network";
    ASSERT_TRUE(Store(name, "bytes").ok());
    std::filesystem::last_write_time(PathOf(name), now - std::chrono::hours(10 - i));
  }
  ASSERT_TRUE(Store(kName, "plan").ok());
  EXPECT_EQ(Load("1.network"), "bytes");  // used now
  cache_.KeepLatest(".network", 2);
  for (const char* gone : {"0.network", "2.network", "3.network"}) EXPECT_EQ(Load(gone), "(none)");
  for (const char* kept : {"1.network", "4.network"}) EXPECT_EQ(Load(kept), "bytes");
  EXPECT_EQ(Load(kName), "plan");
}

void ExpectRefused(const TemporaryFolder& above, const std::string& path, const std::string& why) {
  const auto opened = EngineCache::Open(path);
  ASSERT_FALSE(opened.ok()) << path;
  EXPECT_EQ(opened.status().code(), StatusCode::kInternalError);
  EXPECT_NE(opened.status().message().find(why), std::string::npos) << opened.status().message();
  // Messages name the folder by its last part only.
  EXPECT_EQ(opened.status().message().find(above.path()), std::string::npos);
}

TEST(EngineCacheFolderTest, IsPrivate) {
  const TemporaryFolder above;
  const std::string path = above / "engines";
  ASSERT_TRUE(EngineCache::Open(path + "/").ok());
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
  for (const mode_t mode : {0720u, 0702u, 0777u}) {
    chmod(path.c_str(), mode);
    ExpectRefused(above, path, "chmod go-w engines");
  }
  chmod(path.c_str(), 0755);
  EXPECT_TRUE(EngineCache::Open(path).ok());
  WriteWhole(above / "file", "");
  ExpectRefused(above, above / "file", "'file' is no folder");
  ExpectRefused(above, above / "none/engines", "cannot be made");
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files to another user";
  ASSERT_EQ(chown(path.c_str(), kAnotherUser, kAnotherUser), 0);
  ExpectRefused(above, path, "belongs to another user");
}

}  // namespace
}  // namespace lattice
