#include "native/kept/kept_folder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "test/native/kept/temporary_folder.h"

namespace lattice {
namespace {

using namespace std::chrono_literals;

constexpr uid_t kAnotherUser = 65534;
const std::string kName = "vehicles.engine";

std::string Text(const std::optional<std::vector<char>>& bytes) {
  return bytes ? std::string(bytes->begin(), bytes->end()) : "(none)";
}

class KeptFolderTest : public testing::Test {
 protected:
  Status Store(const std::string& name, std::string_view plan) { return kept_.Store(name, plan); }
  std::string Load(const std::string& name) { return Text(kept_.Load(name)); }
  std::string PathOf(const std::string& name) { return folder_ / name; }

  TemporaryFolder folder_;
  KeptFolder kept_ = *KeptFolder::Open(folder_.path());
};

TEST_F(KeptFolderTest, AnEngineComesBackUnderItsNameOnly) {
  EXPECT_EQ(Load(kName), "(none)");
  ASSERT_TRUE(Store(kName, "plan").ok());
  EXPECT_EQ(Load(kName), "plan");
  EXPECT_EQ(Load("other.engine"), "(none)");
}

TEST_F(KeptFolderTest, APlanOfAnyLengthComesBackAsTheWholeFile) {
  for (const std::string& plan :
       {std::string(), std::string("pl\0an", 5), std::string(9'999, 'x')}) {
    ASSERT_TRUE(Store(kName, plan).ok());
    EXPECT_EQ(Load(kName), plan);
    EXPECT_TRUE(ReadWhole(PathOf(kName)).ends_with(plan));
  }
  struct stat info;
  ASSERT_EQ(stat(PathOf(kName).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
}

TEST_F(KeptFolderTest, WhatAnotherUserCouldHaveWrittenIsNotRead) {
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

TEST_F(KeptFolderTest, LinksFoldersAndPipesAreNotRead) {
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

TEST_F(KeptFolderTest, ReplacesWhatAKilledBuildLeft) {
  WriteWhole(PathOf(kName) + ".partial", "half");
  ASSERT_TRUE(Store(kName, "plan").ok());
  EXPECT_EQ(Load(kName), "plan");
  EXPECT_FALSE(std::filesystem::exists(PathOf(kName) + ".partial"));
}

// The limit on the size of files takes the place of a full disk.
TEST_F(KeptFolderTest, AFullDiskLeavesTheFileThatWasThere) {
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

TEST_F(KeptFolderTest, AReadMarksTheFileAsUsed) {
  ASSERT_TRUE(Store(kName, "plan").ok());
  const auto now = std::filesystem::file_time_type::clock::now();
  std::filesystem::last_write_time(PathOf(kName), now - std::chrono::hours(1000));
  EXPECT_EQ(Load(kName), "plan");
  EXPECT_GT(std::filesystem::last_write_time(PathOf(kName)), now - std::chrono::hours(1));
}

TEST_F(KeptFolderTest, ALinkIsReplacedAndItsTargetStays) {
  WriteWhole(folder_ / "elsewhere", "theirs");
  std::filesystem::create_symlink("elsewhere", PathOf(kName));
  ASSERT_TRUE(Store(kName, "plan").ok());
  EXPECT_EQ(Load(kName), "plan");
  EXPECT_EQ(ReadWhole(folder_ / "elsewhere"), "theirs");
}

TEST_F(KeptFolderTest, ReadersSeeWholeEnginesWhileTheyAreReplaced) {
  const auto plan = [](int version) { return std::string(50'000, static_cast<char>(version)); };
  ASSERT_TRUE(Store(kName, plan(0)).ok());
  std::atomic<bool> done = false;
  std::atomic<int> reads = 0;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      while (!done) {
        const auto read = kept_.Load(kName);
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

TEST_F(KeptFolderTest, ALockExcludesUntilItEnds) {
  {
    const auto first = kept_.Lock(kName, Clock::now());
    ASSERT_TRUE(first.ok()) << first.status().message();
    const auto before = Clock::now();
    const auto second = kept_.Lock(kName, before + 30ms);
    EXPECT_EQ(second.status().code(), StatusCode::kDeadlineExceeded);
    EXPECT_GE(Clock::now() - before, 30ms);
    EXPECT_TRUE(kept_.Lock("other.engine", Clock::now()).ok());
  }
  EXPECT_TRUE(kept_.Lock(kName, Clock::now()).ok());
}

TEST_F(KeptFolderTest, AWaitForALockIsCancelledLongBeforeItsDeadline) {
  int asked = 0;
  const auto go_on = [&asked] { return ++asked < 3; };
  EXPECT_TRUE(kept_.Lock(kName, Clock::now(), [] { return false; }).ok());
  const auto held = kept_.Lock(kName, Clock::now());
  const auto before = Clock::now();
  const auto lock = kept_.Lock(kName, before + 60s, go_on);
  EXPECT_EQ(lock.status().code(), StatusCode::kCancelled);
  EXPECT_EQ(asked, 3);
  EXPECT_LT(Clock::now() - before, 10s);
}

TEST_F(KeptFolderTest, ALockFileThatIsALinkOrAFolderIsRefused) {
  const std::string path = folder_ / (kName + ".lock");
  std::filesystem::create_symlink("elsewhere", path);
  EXPECT_EQ(kept_.Lock(kName, Clock::now()).status().code(), StatusCode::kInternalError);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "elsewhere"));
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_EQ(kept_.Lock(kName, Clock::now()).status().code(), StatusCode::kInternalError);
}

// The steps of a process that wants the engine. `builds` gets a byte per build.
bool Obtain(const std::string& path, const std::string& name, bool dies) {
  const auto folder = KeptFolder::Open(path);
  if (!folder.ok()) return false;
  const auto lock = folder->Lock(name, Clock::now() + 20s);
  if (!lock.ok()) return false;
  if (const auto stored = folder->Load(name)) return Text(stored) == "plan";
  std::ofstream(path + "/builds", std::ios::app) << '.' << std::flush;
  if (dies) kill(getpid(), SIGKILL);
  std::this_thread::sleep_for(30ms);
  return folder->Store(name, std::string_view("plan")).ok();
}

TEST_F(KeptFolderTest, ManyProcessesBuildOnceAndOnceMoreForOneThatIsKilled) {
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

TEST_F(KeptFolderTest, OfMoreBytesThanAreKeptThoseUsedLastStayAndThoseInUse) {
  const auto now = std::filesystem::file_time_type::clock::now();
  for (int i = 0; i < 6; ++i) {
    const std::string name = std::to_string(i) + ".network";
    ASSERT_TRUE(Store(name, std::string(1000, 'x')).ok());
    ASSERT_TRUE(Store(name + ".agreement", "score").ok());
    std::filesystem::last_write_time(PathOf(name), now - std::chrono::hours(10 - i));
  }
  ASSERT_TRUE(Store(kName, "plan").ok());
  ASSERT_NE(Load("1.network"), "(none)");  // used now
  const auto left = [&] {
    std::string names;
    for (const char* name : {"0", "1", "2", "3", "4", "5"}) {
      const bool kept = Load(std::string(name) + ".network") != "(none)";
      EXPECT_EQ(Load(std::string(name) + ".network.agreement") != "(none)", kept) << name;
      if (kept) names += name;
    }
    return names;
  };
  {
    // As another process holds it.
    const ScopedFd in_use = KeptFolder::Open(folder_.path())->Hold("0.network");
    kept_.KeepWithin(".network", 6 * 1100);
    kept_.KeepWithin(".network", 3 * 1100);
    EXPECT_FALSE(std::filesystem::exists(PathOf("2.network")));
    EXPECT_EQ(left(), "015");
  }
  std::filesystem::last_write_time(PathOf("5.network"), now + std::chrono::hours(1));
  kept_.KeepWithin(".network", 1100);
  EXPECT_EQ(left(), "5");
  EXPECT_EQ(Load(kName), "plan");
}

class DamagedFileTest : public KeptFolderTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(Store(kName, kPlan).ok());
    stored_ = ReadWhole(PathOf(kName));
    ASSERT_EQ(stored_.size(), kPlan.size() + 64);
  }

  // The sentence; empty where the file is read as it was stored.
  std::string Fault() {
    std::string fault;
    const auto bytes = kept_.Load(kName, &fault);
    EXPECT_EQ(bytes.has_value(), fault.empty());
    if (bytes) {
      EXPECT_EQ(Text(bytes), kPlan);
    }
    return fault;
  }

  // A file that is there can always be replaced, and is read back then.
  void ExpectReplaced(const std::string& why) {
    EXPECT_EQ(Fault(), kName + " " + why + ".");
    ASSERT_TRUE(Store(kName, kPlan).ok()) << why;
    EXPECT_EQ(Fault(), "") << why;
  }

  const std::string kPlan = "a plan of some length, " + std::string(40, 'x');
  std::string stored_;
};

TEST_F(DamagedFileTest, EveryBitOfTheHeadAndOfTheBytesCounts) {
  for (size_t at = 0; at < stored_.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = stored_;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      WriteWhole(PathOf(kName), damaged);
      EXPECT_NE(Fault(), "") << "byte " << at << ", bit " << bit;
    }
  }
  WriteWhole(PathOf(kName), stored_);
  EXPECT_EQ(Fault(), "");
}

TEST_F(DamagedFileTest, EveryLengthButItsOwnIsAFault) {
  for (size_t size = 0; size < stored_.size(); ++size) {
    WriteWhole(PathOf(kName), stored_.substr(0, size));
    EXPECT_NE(Fault(), "") << size;
  }
  WriteWhole(PathOf(kName), stored_ + '\0');
  ExpectReplaced("has another length");
  // Its length is read before there is memory for it.
  std::filesystem::resize_file(PathOf(kName), uintmax_t{1} << 40);
  ExpectReplaced("has another length");
}

TEST_F(DamagedFileTest, SaysWhatIsWrongAndIsReplaced) {
  const std::string path = PathOf(kName);
  WriteWhole(path, "");
  ExpectReplaced("is cut short");
  WriteWhole(path, stored_.substr(0, 40));
  ExpectReplaced("is cut short");
  // As releases before this form kept it.
  WriteWhole(path, kPlan + kPlan);
  ExpectReplaced("is of no known form");
  std::string later = stored_;
  later[16] = 2;
  WriteWhole(path, later);
  ExpectReplaced("is of another version of the form");
  std::string zeros = stored_;
  zeros.replace(90, 20, std::string(20, '\0'));
  WriteWhole(path, zeros);
  ExpectReplaced("does not hold the bytes that were stored");
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  ExpectReplaced("is no regular file");
  std::filesystem::remove(path);
  std::filesystem::create_symlink("elsewhere", path);
  ExpectReplaced("cannot be opened: Too many levels of symbolic links");
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  ExpectReplaced("is no regular file");
  chmod(path.c_str(), 0622);
  ExpectReplaced("could have been written by another user");
  if (geteuid() == 0) return;  // who reads every file
  chmod(path.c_str(), 0);
  ExpectReplaced("cannot be opened: Permission denied");
}

// The name says what the bytes depend on: CPU, versions, model.
TEST_F(DamagedFileTest, TheFileOfAnotherNameIsNotTakenForIt) {
  WriteWhole(PathOf("other.engine"), stored_);
  std::string fault;
  EXPECT_FALSE(kept_.Load("other.engine", &fault));
  EXPECT_EQ(fault, "other.engine does not hold the bytes that were stored.");
}

void ExpectRefused(const TemporaryFolder& above, const std::string& path, const std::string& why) {
  const auto opened = KeptFolder::Open(path);
  ASSERT_FALSE(opened.ok()) << path;
  EXPECT_EQ(opened.status().code(), StatusCode::kInternalError);
  EXPECT_NE(opened.status().message().find(why), std::string::npos) << opened.status().message();
  // Messages name the folder by its last part only.
  EXPECT_EQ(opened.status().message().find(above.path()), std::string::npos);
}

TEST(KeptFolderOpenTest, IsPrivate) {
  const TemporaryFolder above;
  const std::string path = above / "engines";
  ASSERT_TRUE(KeptFolder::Open(path + "/").ok());
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
  for (const mode_t mode : {0720u, 0702u, 0777u}) {
    chmod(path.c_str(), mode);
    ExpectRefused(above, path, "chmod go-w engines");
  }
  chmod(path.c_str(), 0755);
  EXPECT_TRUE(KeptFolder::Open(path).ok());
  WriteWhole(above / "file", "");
  ExpectRefused(above, above / "file", "'file' is no folder");
  ExpectRefused(above, above / "none/engines", "cannot be made");
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files to another user";
  ASSERT_EQ(chown(path.c_str(), kAnotherUser, kAnotherUser), 0);
  ExpectRefused(above, path, "belongs to another user");
}

}  // namespace
}  // namespace lattice
