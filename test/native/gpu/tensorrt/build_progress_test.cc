#include "native/gpu/tensorrt/build_progress.h"

#include <gtest/gtest.h>

#include <random>

namespace lattice {
namespace {

TEST(BuildProgressTest, NestedPhasesFillTheirParentsStep) {
  BuildProgress progress;
  EXPECT_EQ(progress.share(), 0);
  progress.Start("build", "", 4);
  progress.FinishStep("build", 0);
  EXPECT_DOUBLE_EQ(progress.share(), 0.25);
  progress.Start("tactics", "build", 10);
  progress.FinishStep("tactics", 4);
  EXPECT_DOUBLE_EQ(progress.share(), 0.375);
  progress.Finish("tactics");
  EXPECT_DOUBLE_EQ(progress.share(), 0.5);
  progress.FinishStep("build", 1);
  EXPECT_DOUBLE_EQ(progress.share(), 0.5);
  progress.Finish("build");
  EXPECT_DOUBLE_EQ(progress.share(), 1);
}

TEST(BuildProgressTest, WhateverIsReportedItStaysBetween0And1AndNeverFalls) {
  std::mt19937 random(11);
  const char* names[] = {"a", "b", "c", "d", ""};
  for (int run = 0; run < 200; ++run) {
    BuildProgress progress;
    double last = 0;
    for (int i = 0; i < 60; ++i) {
      const char* phase = names[random() % 5];
      switch (random() % 3) {
        case 0:
          progress.Start(phase, names[random() % 5], static_cast<int>(random() % 6) - 1);
          break;
        case 1:
          progress.FinishStep(phase, static_cast<int>(random() % 9) - 2);
          break;
        default:
          progress.Finish(phase);
      }
      EXPECT_GE(progress.share(), last);
      EXPECT_LE(progress.share(), 1);
      last = progress.share();
    }
  }
}

}  // namespace
}  // namespace lattice
