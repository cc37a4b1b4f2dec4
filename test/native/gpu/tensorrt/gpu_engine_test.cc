// Answers of GPU engines on machines that cannot have one; gpu-labelled tests show their work.
#include "native/gpu/gpu_engine.h"

#include <gtest/gtest.h>

#include <chrono>

namespace lattice {
namespace {

const std::string kTiny = LATTICE_SOURCE_DIR "/models/tiny/tiny-v8.onnx";

TEST(GpuEngineTest, WithoutAGpuTheReasonComesSoonAndNothingCrashes) {
  const auto start = std::chrono::steady_clock::now();
  const auto gpus = UsableGpus();
  if (gpus.ok()) GTEST_SKIP() << "left out: this machine has " << gpus->front().name;
  EXPECT_EQ(gpus.status().code(), StatusCode::kGpuUnavailable);
  EXPECT_GT(gpus.status().message().size(), 20u);
  const auto engine = LoadGpuEngine(kTiny, {}, nullptr);
  EXPECT_EQ(engine.status().code(), StatusCode::kGpuUnavailable);
  EXPECT_EQ(engine.status().message(), gpus.status().message());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST(GpuEngineTest, TheBuildSaysWhatItHas) {
#ifdef LATTICE_WITH_CUDA
  EXPECT_EQ(GpuBuild().rfind("CUDA ", 0), 0u) << GpuBuild();
  EXPECT_NE(GpuBuild().find("TensorRT 1"), std::string::npos) << GpuBuild();
#else
  EXPECT_EQ(GpuBuild(), "");
  EXPECT_NE(UsableGpus().status().message().find("npm run setup"), std::string::npos);
#endif
}

}  // namespace
}  // namespace lattice
