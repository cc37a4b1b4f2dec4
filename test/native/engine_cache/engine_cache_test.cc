#include "native/engine_cache/engine_cache.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <thread>

#include "test/native/engine_cache/engine_folder.h"

namespace lattice {
namespace {

using namespace std::chrono_literals;

class EngineCacheTest : public testing::Test {
 protected:
  EngineCacheTest() : cache_(*EngineCache::Open(folder_.path())) {}

  Status Store(const EngineHeader& header, const std::string& plan) {
    const auto lock = cache_->Lock(header.key, Clock::now() + 10s);
    return lock.ok() ? cache_->Store(*lock, header, plan) : lock.status();
  }

  StoredEngine Load(const EngineKey& key) {
    auto engine = cache_->Load(key);
    EXPECT_TRUE(engine.ok()) << engine.status().message();
    return engine.ok() ? *std::move(engine) : StoredEngine();
  }

  std::string PathOf(const EngineKey& key) { return folder_ / (KeyStem(key) + ".engine"); }

  TemporaryFolder folder_;
  std::unique_ptr<EngineCache> cache_;
  EngineHeader header_ = SampleHeader();
};

std::string Text(const std::vector<char>& bytes) { return {bytes.begin(), bytes.end()}; }

TEST_F(EngineCacheTest, AnEngineComesBack) {
  EXPECT_EQ(Load(header_.key).state, FileState::kAbsent);
  std::mt19937 random(2);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{100'000}}) {
    std::string plan(size, '\0');
    for (char& byte : plan) byte = static_cast<char>(random());
    ASSERT_TRUE(Store(header_, plan).ok());
    const StoredEngine engine = Load(header_.key);
    EXPECT_EQ(engine.state, FileState::kReady);
    EXPECT_EQ(engine.header, header_);
    EXPECT_EQ(Text(engine.plan), plan);
  }
  struct stat info;
  ASSERT_EQ(stat(PathOf(header_.key).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(EngineCacheTest, AnotherGpuOrVersionHasNoEngineYet) {
  ASSERT_TRUE(Store(header_, "plan").ok());
  EngineKey other = header_.key;
  other.tensorrt_version = "11.2.0.1";
  EXPECT_EQ(Load(other).state, FileState::kAbsent);
  other = header_.key;
  other.gpu_name = "NVIDIA L4";
  EXPECT_EQ(Load(other).state, FileState::kAbsent);
}

TEST_F(EngineCacheTest, AnEngineUnderTheNameOfAnotherKeyIsStaleAndReplaced) {
  ASSERT_TRUE(Store(header_, "plan").ok());
  EngineHeader other = header_;
  other.key.gpu_name = "NVIDIA L4";
  std::filesystem::copy_file(PathOf(header_.key), PathOf(other.key));
  const StoredEngine engine = Load(other.key);
  EXPECT_EQ(engine.state, FileState::kStale);
  EXPECT_TRUE(engine.plan.empty());
  EXPECT_NE(engine.reason.find("an engine of another key"), std::string::npos);
  ASSERT_TRUE(Store(other, "plan of the L4").ok());
  EXPECT_EQ(Text(Load(other.key).plan), "plan of the L4");
}

TEST_F(EngineCacheTest, ADamagedEngineIsReplaced) {
  ASSERT_TRUE(Store(header_, "plan").ok());
  std::string bytes = ReadWhole(PathOf(header_.key));
  bytes.back() = 'm';
  WriteWhole(PathOf(header_.key), bytes);
  EXPECT_EQ(Load(header_.key).state, FileState::kDamaged);
  ASSERT_TRUE(Store(header_, "plan").ok());
  EXPECT_EQ(Load(header_.key).state, FileState::kReady);
}

TEST_F(EngineCacheTest, AForeignFileIsNeitherReadNorReplaced) {
  ASSERT_TRUE(Store(header_, "plan").ok());
  const std::string path = PathOf(header_.key);
  std::filesystem::rename(path, folder_ / "elsewhere");
  std::filesystem::create_symlink("elsewhere", path);
  const StoredEngine engine = Load(header_.key);
  EXPECT_EQ(engine.state, FileState::kForeign);
  EXPECT_NE(engine.reason.find(".engine is a symbolic link"), std::string::npos);
  EXPECT_NE(engine.reason.find("Remove it"), std::string::npos);
  EXPECT_EQ(engine.reason.find(folder_.path()), std::string::npos);
  EXPECT_EQ(Store(header_, "new").code(), StatusCode::kInternalError);
  EXPECT_TRUE(std::filesystem::is_symlink(path));
}

TEST_F(EngineCacheTest, TheLockOfAnotherKeyIsNoRightToStore) {
  EngineKey other = header_.key;
  other.precision = "fp32";
  const auto lock = cache_->Lock(other, Clock::now());
  ASSERT_TRUE(lock.ok());
  EXPECT_EQ(cache_->Store(*lock, header_, "plan").code(), StatusCode::kInternalError);
  EXPECT_EQ(Load(header_.key).state, FileState::kAbsent);
}

TEST_F(EngineCacheTest, LoadAndTouchMarkAsUsed) {
  ASSERT_TRUE(Store(header_, "plan").ok());
  const auto age = [&] {
    const std::filesystem::path path = PathOf(header_.key);
    return std::filesystem::file_time_type::clock::now() - std::filesystem::last_write_time(path);
  };
  const auto make_old = [&] {
    const std::filesystem::path path = PathOf(header_.key);
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - 1000h);
  };
  make_old();
  EXPECT_GT(age(), 999h);
  EXPECT_EQ(Load(header_.key).state, FileState::kReady);
  EXPECT_LT(age(), 1h);
  make_old();
  EXPECT_TRUE(cache_->Touch(header_.key).ok());
  EXPECT_LT(age(), 1h);
}

TEST_F(EngineCacheTest, ReadersSeeWholeEnginesWhileTheyAreReplaced) {
  const auto plan = [](int version) { return std::string(50'000, static_cast<char>(version)); };
  header_.build_ms = 0;
  ASSERT_TRUE(Store(header_, plan(0)).ok());
  std::atomic<bool> done = false;
  std::atomic<int> reads = 0;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      while (!done) {
        const auto engine = cache_->Load(header_.key);
        const bool whole = engine.ok() && engine->state == FileState::kReady &&
                           Text(engine->plan) == plan(static_cast<int>(engine->header.build_ms));
        if (!whole) ++wrong;
        ++reads;
      }
    });
  }
  for (int version = 1; version <= 40 || reads < 40; ++version) {
    EngineHeader header = header_;
    header.build_ms = version % 100;
    ASSERT_TRUE(Store(header, plan(version % 100)).ok());
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
}

// What a process does that wants the engine. `builds` gets a byte a build.
bool Obtain(const std::string& folder, const EngineHeader& header, bool dies) {
  const auto cache = EngineCache::Open(folder);
  if (!cache.ok()) return false;
  const auto lock = (*cache)->Lock(header.key, Clock::now() + 20s);
  if (!lock.ok()) return false;
  const auto engine = (*cache)->Load(header.key);
  if (!engine.ok()) return false;
  if (engine->state == FileState::kReady) return Text(engine->plan) == "plan";
  std::ofstream(folder + "/builds", std::ios::app) << '.' << std::flush;
  if (dies) kill(getpid(), SIGKILL);
  std::this_thread::sleep_for(30ms);
  return (*cache)->Store(*lock, header, std::string_view("plan")).ok();
}

TEST_F(EngineCacheTest, ManyProcessesBuildOnceAndOnceMoreForOneThatIsKilled) {
  const auto start = [&](bool dies) {
    const pid_t child = fork();
    if (child == 0) _exit(Obtain(folder_.path(), header_, dies) ? 0 : 1);
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

TEST_F(EngineCacheTest, TimingsComeBackForEveryModelOfThatGpu) {
  EXPECT_EQ(cache_->LoadTimingCache(header_.key)->state, FileState::kAbsent);
  ASSERT_TRUE(cache_->StoreTimingCache(header_.key, std::string_view("timings")).ok());
  EngineKey other = header_.key;
  other.model_sha256 = "of another model";
  const auto timings = cache_->LoadTimingCache(other);
  ASSERT_TRUE(timings.ok());
  EXPECT_EQ(timings->state, FileState::kReady);
  EXPECT_EQ(Text(timings->bytes), "timings");
  other.gpu_name = "NVIDIA L4";
  EXPECT_EQ(cache_->LoadTimingCache(other)->state, FileState::kAbsent);
  // Under the name of another GPU they are stale; changed, they are damaged.
  const std::string path = folder_ / ("timing-" + TimingStem(header_.key) + ".cache");
  std::filesystem::copy_file(path, folder_ / ("timing-" + TimingStem(other) + ".cache"));
  EXPECT_EQ(cache_->LoadTimingCache(other)->state, FileState::kStale);
  std::string bytes = ReadWhole(path);
  bytes.back() = '!';
  WriteWhole(path, bytes);
  EXPECT_EQ(cache_->LoadTimingCache(header_.key)->state, FileState::kDamaged);
}

TEST_F(EngineCacheTest, AListNamesWhatIsWrong) {
  EngineHeader other = header_;
  other.key.precision = "fp32";
  ASSERT_TRUE(Store(header_, "plan").ok());
  ASSERT_TRUE(Store(other, "plan").ok());
  ASSERT_TRUE(cache_->StoreTimingCache(header_.key, std::string_view("timings")).ok());
  WriteWhole(folder_ / "1.engine", "LATENGIN cut");
  WriteWhole(folder_ / "2.engine", "something else");
  std::filesystem::copy_file(PathOf(header_.key), folder_ / "3.engine");
  WriteWhole(folder_ / "readme.txt", "");
  const auto files = cache_->List();
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 5u);
  int ready = 0;
  for (const EngineFile& file : *files) {
    if (file.name == "1.engine") {
      EXPECT_EQ(file.state, FileState::kDamaged);
    } else if (file.name == "2.engine") {
      EXPECT_EQ(file.state, FileState::kForeign);
      EXPECT_EQ(file.bytes, 0u);
    } else if (file.name == "3.engine") {
      EXPECT_EQ(file.state, FileState::kStale);
      EXPECT_EQ(file.header, header_);
    } else {
      ++ready;
      EXPECT_EQ(file.state, FileState::kReady) << file.reason;
      EXPECT_EQ(file.name, KeyStem(file.header->key) + ".engine");
      EXPECT_EQ(file.bytes, std::filesystem::file_size(folder_ / file.name));
      EXPECT_GT(file.last_used_s, 1'700'000'000);
    }
    EXPECT_EQ(file.reason.empty(), file.state == FileState::kReady);
  }
  EXPECT_EQ(ready, 2);
}

}  // namespace
}  // namespace lattice
