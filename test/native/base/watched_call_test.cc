#include "native/base/watched_call.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "native/base/crash_marker.h"

namespace lattice {
namespace {

using namespace std::chrono_literals;

class WatchedCallDeathTest : public testing::Test {
 protected:
  WatchedCallDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// As a library's exit handler that waits for the device would.
void Hang() { std::this_thread::sleep_for(1h); }

TEST_F(WatchedCallDeathTest, ACallThatDoesNotReturnEndsTheProcessWithoutExitHandlers) {
  EXPECT_EXIT(
      {
        std::atexit(Hang);
        const WatchedCall call("testing", 300ms);
        Hang();
      },
      testing::ExitedWithCode(69), "did not answer for 0.3 s \\(while testing\\)");
}

TEST_F(WatchedCallDeathTest, TheWorkInProgressIsMarked) {
  const std::string path = testing::TempDir() + "marker-watched";
  EXPECT_EXIT(
      {
        const auto marker = *CrashMarker::Open(path);
        const CrashMarker::InHand in_hand(*marker, std::vector<uint64_t>(2, 7));
        const WatchedCall call("testing", 200ms);
        Hang();
      },
      testing::ExitedWithCode(69), "");
  std::ostringstream marked;
  marked << std::ifstream(path).rdbuf();
  EXPECT_EQ(marked.str(), "0\n7\n7\n");
  unlink(path.c_str());
}

TEST_F(WatchedCallDeathTest, CallsThatReturnInTimeEndNothing) {
  for (int i = 0; i < 8; ++i) {
    const WatchedCall call("testing", 1s);
    const WatchedCall beside("testing", 1h);
    std::this_thread::sleep_for(250ms);
  }
}

}  // namespace
}  // namespace lattice
