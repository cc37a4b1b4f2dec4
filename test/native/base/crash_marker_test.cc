#include "native/base/crash_marker.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace lattice {
namespace {

std::string ReadAll(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string MarkerPath() { return testing::TempDir() + "marker-" + std::to_string(getpid()); }

// The child dies with ids 7 and 8 in hand of another thread and `own` in hand of the crashing one.
void Crash(const std::string& path, std::vector<uint64_t> own, int signal) {
  const auto marker = CrashMarker::Open(path);
  const SignalStack stack;
  std::thread other([&] {
    const std::array<uint64_t, 2> ids = {7, 8};
    const CrashMarker::InHand in_hand(**marker, ids);
    std::thread crashing([&] {
      const CrashMarker::InHand mine(**marker, own);
      if (signal == SIGABRT) std::abort();
      raise(signal);
    });
    crashing.join();
  });
  other.join();
}

class CrashMarkerDeathTest : public testing::Test {
 protected:
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_F(CrashMarkerDeathTest, AbortLeavesTheCrashingIdFirst) {
  const std::string path = testing::TempDir() + "marker-abort";
  EXPECT_EXIT(Crash(path, {5}, SIGABRT), testing::KilledBySignal(SIGABRT), "");
  EXPECT_EQ(ReadAll(path), "5\n7\n8\n5\n");
}

TEST_F(CrashMarkerDeathTest, SeveralIdsOfTheCrashingThreadLeaveZeroFirst) {
  const std::string path = testing::TempDir() + "marker-several";
  EXPECT_EXIT(Crash(path, {5, 6}, SIGABRT), testing::KilledBySignal(SIGABRT), "");
  EXPECT_EQ(ReadAll(path), "0\n7\n8\n5\n6\n");
}

TEST_F(CrashMarkerDeathTest, SentSignalReachesTheHandlerBefore) {
  const std::string path = testing::TempDir() + "marker-sent";
  EXPECT_EXIT(Crash(path, {}, SIGBUS), testing::KilledBySignal(SIGBUS), "");
  EXPECT_EQ(ReadAll(path), "0\n7\n8\n");
}

TEST(CrashMarkerTest, WritesTheIdsInHandOnce) {
  const std::string path = MarkerPath();
  const auto marker = CrashMarker::Open(path);
  const std::array<uint64_t, 2> ids = {7, 8};
  const CrashMarker::InHand in_hand(**marker, ids);
  CrashMarker::WriteAll();
  CrashMarker::WriteAll();
  EXPECT_EQ(ReadAll(path), "0\n7\n8\n");
  unlink(path.c_str());
}

TEST(CrashMarkerTest, OpenEmptiesTheFileAndAnEmptyPathDoesNothing) {
  const std::string path = MarkerPath();
  std::ofstream(path) << "old";
  ASSERT_TRUE(CrashMarker::Open(path).ok());
  EXPECT_EQ(ReadAll(path), "");
  unlink(path.c_str());

  const auto none = CrashMarker::Open("");
  ASSERT_TRUE(none.ok());
  const std::array<uint64_t, 1> ids = {1};
  const CrashMarker::InHand in_hand(**none, ids);
}

TEST(CrashMarkerTest, RefusesAFolderThatIsNotThereAndASeventeenthMarker) {
  const auto refused = CrashMarker::Open("/nonexistent-folder/marker");
  EXPECT_EQ(refused.status().code(), StatusCode::kInternalError);

  const std::string path = MarkerPath();
  std::vector<std::unique_ptr<CrashMarker>> markers;
  for (int i = 0; i < 16; ++i) markers.push_back(*CrashMarker::Open(path));
  EXPECT_FALSE(CrashMarker::Open(path).ok());
  markers.pop_back();
  EXPECT_TRUE(CrashMarker::Open(path).ok());
  unlink(path.c_str());
}

TEST(CrashMarkerTest, IdsBeyondTheTableAreLeftOut) {
  const std::string path = MarkerPath();
  const auto marker = CrashMarker::Open(path);
  const std::vector<uint64_t> ids(3000, 1);
  for (int i = 0; i < 3; ++i) {
    const CrashMarker::InHand in_hand(**marker, ids);
  }
  unlink(path.c_str());
}

}  // namespace
}  // namespace lattice
