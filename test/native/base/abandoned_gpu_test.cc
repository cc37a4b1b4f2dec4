#include "native/base/abandoned_gpu.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace lattice {
namespace {

class AbandonedGpuDeathTest : public testing::Test {
 protected:
  AbandonedGpuDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// As the exit handler of a driver that hangs.
void Block() { std::this_thread::sleep_for(std::chrono::hours(1)); }

TEST_F(AbandonedGpuDeathTest, ExitKeepsItsStatusAndOutputAndRunsNoHandlerOfADriver) {
  EXPECT_EXIT(
      {
        std::atexit(Block);
        if (IsGpuAbandoned()) std::abort();
        AbandonGpu();
        AbandonGpu();
        if (!IsGpuAbandoned()) std::abort();
        std::fputs("written out", stderr);
        std::exit(69);
      },
      testing::ExitedWithCode(69), "written out");
}

}  // namespace
}  // namespace lattice
