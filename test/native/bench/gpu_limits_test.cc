#include "bench/native/gpu_limits.h"

#include <gtest/gtest.h>

#include "native/base/stopwatch.h"
#include "native/engine/gpu_engine.h"

namespace lattice {
namespace {

using std::chrono::milliseconds;

TEST(GpuLimitsTest, WithoutAGpuTheReasonComesSoon) {
  const auto gpus = UsableGpus();
  if (gpus.ok()) GTEST_SKIP() << "left out: this machine has " << gpus->front().name;
  Stopwatch watch;
  const auto limits = MeasureGpuLimits(3, milliseconds(60'000));
  EXPECT_LT(watch.Lap(), 2'000);
  EXPECT_EQ(limits.status().code(), StatusCode::kGpuUnavailable);
  EXPECT_EQ(limits.status().message(), gpus.status().message());
}

TEST(GpuLimitsTest, EveryFigureOfAGpuIsThere) {
  const auto gpus = UsableGpus();
  if (!gpus.ok()) GTEST_SKIP() << "left out: " << gpus.status().message();
  const auto limits = MeasureGpuLimits(2, milliseconds(60'000));
  ASSERT_TRUE(limits.ok()) << limits.status().message();
  EXPECT_EQ(limits->name, gpus->front().name);
  EXPECT_GT(limits->copy_gb_s, limits->upload_gb_s);
  EXPECT_GT(limits->upload_gb_s, 0);
  EXPECT_GT(limits->download_gb_s, 0);
  EXPECT_EQ(limits->matrix_missing, "");
  EXPECT_GT(limits->matrix_tflop_s, 0);
  EXPECT_GT(limits->matrix_size, 0);
}

TEST(GpuLimitsTest, WithoutTimeTheProductIsLeftOutWithTheReason) {
  const auto gpus = UsableGpus();
  if (!gpus.ok()) GTEST_SKIP() << "left out: " << gpus.status().message();
  const auto limits = MeasureGpuLimits(1, milliseconds(0));
  ASSERT_TRUE(limits.ok()) << limits.status().message();
  EXPECT_GT(limits->copy_gb_s, 0);
  EXPECT_EQ(limits->matrix_size, 0);
  EXPECT_NE(limits->matrix_missing, "");
}

}  // namespace
}  // namespace lattice
