#include "native/engine_cache/file_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "test/native/engine_cache/engine_folder.h"

namespace lattice {
namespace {

using namespace std::chrono_literals;

class FileLockTest : public testing::Test {
 protected:
  Result<FileLock> Acquire(Clock::duration wait) {
    return FileLock::Acquire(fd_.get(), "a.lock", Clock::now() + wait);
  }

  TemporaryFolder folder_;
  ScopedFd fd_{open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
};

TEST_F(FileLockTest, ExcludesUntilItEnds) {
  {
    const auto first = Acquire(0ms);
    ASSERT_TRUE(first.ok());
    const auto before = Clock::now();
    const auto second = Acquire(30ms);
    EXPECT_EQ(second.status().code(), StatusCode::kDeadlineExceeded);
    EXPECT_GE(Clock::now() - before, 30ms);
  }
  EXPECT_TRUE(Acquire(0ms).ok());
  struct stat info;
  ASSERT_EQ(stat((folder_ / "a.lock").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(FileLockTest, AWaitIsGivenUpLongBeforeItsDeadline) {
  const auto held = Acquire(0ms);
  ASSERT_TRUE(held.ok());
  int asked = 0;
  const auto go_on = [&asked] { return ++asked < 3; };
  const auto before = Clock::now();
  const auto lock = FileLock::Acquire(fd_.get(), "a.lock", before + 60s, go_on);
  EXPECT_EQ(lock.status().code(), StatusCode::kCancelled);
  EXPECT_EQ(asked, 3);
  EXPECT_LT(Clock::now() - before, 10s);
}

TEST_F(FileLockTest, NobodyIsAskedForAFreeLock) {
  const auto go_on = [] { return false; };
  EXPECT_TRUE(FileLock::Acquire(fd_.get(), "a.lock", Clock::now(), go_on).ok());
}

TEST_F(FileLockTest, AMovedLockIsHeldOnce) {
  auto first = Acquire(0ms);
  ASSERT_TRUE(first.ok());
  {
    const FileLock moved = *std::move(first);
    EXPECT_FALSE(Acquire(0ms).ok());
  }
  EXPECT_TRUE(Acquire(0ms).ok());
}

TEST_F(FileLockTest, OneThreadAtATime) {
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::atomic<int> turns = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 5; ++turn) {
        const auto lock = Acquire(20s);
        if (!lock.ok()) return;
        most = std::max(most.load(), ++inside);
        std::this_thread::sleep_for(1ms);
        // As a prune does: those who wait must not lock what has no name any more.
        if (turn % 2 == 0) std::filesystem::remove(folder_ / "a.lock");
        --inside;
        ++turns;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(turns, 30);
}

TEST_F(FileLockTest, AKilledProcessLetsGo) {
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto lock = Acquire(0ms);
    const char answer = lock.ok() ? 'y' : 'n';
    if (write(told[1], &answer, 1) != 1) _exit(1);
    while (true) pause();
  }
  char answer = 0;
  ASSERT_EQ(read(told[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_EQ(Acquire(20ms).status().code(), StatusCode::kDeadlineExceeded);
  kill(child, SIGKILL);
  EXPECT_TRUE(Acquire(10s).ok());
  waitpid(child, nullptr, 0);
  close(told[0]);
  close(told[1]);
}

TEST_F(FileLockTest, FollowsNoLinkAndTakesNoFolder) {
  std::filesystem::create_symlink("elsewhere", folder_ / "a.lock");
  EXPECT_EQ(Acquire(0ms).status().code(), StatusCode::kInternalError);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "elsewhere"));
  std::filesystem::remove(folder_ / "a.lock");
  std::filesystem::create_directory(folder_ / "a.lock");
  EXPECT_EQ(Acquire(0ms).status().code(), StatusCode::kInternalError);
}

}  // namespace
}  // namespace lattice
