#include "native/base/left_gpus.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace lattice {
namespace {

TEST(LeftGpusTest, AGpuIsLeftForGood) {
  EXPECT_FALSE(IsGpuLeft(-1));
  EXPECT_FALSE(IsGpuLeft(70));
  LeaveGpu(-1);
  LeaveGpu(70);
  LeaveGpu(70);
  EXPECT_TRUE(IsGpuLeft(70));
  EXPECT_FALSE(IsGpuLeft(6));
  EXPECT_FALSE(IsGpuLeft(71));
  EXPECT_FALSE(IsGpuLeft(-1));
  EXPECT_TRUE(IsAnyGpuLeft());
}

TEST(LeftGpusDeathTest, TheProcessEndsWithItsStatusAndWithoutTheHandlersBefore) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::atexit([] {
          std::fputs("a driver that waits", stderr);
          std::abort();
        });
        LeaveGpu(0);
        std::fputs("written", stderr);
        std::exit(69);
      },
      testing::ExitedWithCode(69), "^written$");
}

TEST(LeftGpusDeathTest, WithoutSuchAGpuHandlersRun) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::atexit([] { std::fputs("handled", stderr); });
        std::exit(3);
      },
      testing::ExitedWithCode(3), "^handled$");
}

}  // namespace
}  // namespace lattice
