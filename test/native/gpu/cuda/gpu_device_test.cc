#include "native/gpu/cuda/gpu_device.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <chrono>
#include <new>
#include <string>
#include <vector>

#include "native/gpu/cuda/owners.h"
#include "native/gpu/cuda/pinned_memory.h"

namespace lattice {
namespace {

TEST(UnusableReason, TuringIsTheOldest) {
  EXPECT_EQ(UnusableReason("T4", 7, 5), "");
  EXPECT_EQ(UnusableReason("H100", 9, 0), "");
  EXPECT_EQ(UnusableReason("RTX 5090", 12, 0), "");
  EXPECT_NE(UnusableReason("V100", 7, 0).find("V100 has compute capability 7.0"),
            std::string::npos);
  EXPECT_NE(UnusableReason("P100", 6, 0), "");
}

TEST(ListGpus, AnswersQuicklyWithGpusOrAReason) {
  const auto begin = std::chrono::steady_clock::now();
  const Result<std::vector<GpuDevice>> gpus = ListGpus();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  if (gpus.ok()) {
    ASSERT_FALSE(gpus->empty());
    for (size_t i = 0; i < gpus->size(); ++i) {
      const GpuDevice& gpu = (*gpus)[i];
      EXPECT_EQ(gpu.index, static_cast<int>(i));
      EXPECT_FALSE(gpu.name.empty());
      EXPECT_GT(gpu.memory_bytes, 0u);
      EXPECT_EQ(gpu.uuid.size(), 40u) << gpu.uuid;
      EXPECT_TRUE(gpu.bus_id.ends_with(".0")) << gpu.bus_id;
    }
  } else {
    EXPECT_LT(taken.count(), 1.0);
    EXPECT_NE(gpus.status().message().find("while listing the GPUs"), std::string::npos);
  }
}

TEST(UseGpu, RefusesAGpuThatIsNotThere) {
  const Status status = UseGpu(1000);
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("GPU 1000"), std::string::npos) << status.message();
  // The failure is not left behind for the next check. (Without a driver every answer is a
  // failure.)
  if (ListGpus().ok()) {
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  }
}

TEST(NumaNodeOf, IsUnknownForWhatIsNotThere) { EXPECT_EQ(NumaNodeOf("ffff:ff:ff.7"), -1); }

TEST(FreeGpuBytes, IsWhatACardCanHave) {
  const auto gpus = ListGpus();
  if (!gpus.ok()) {
    EXPECT_EQ(FreeGpuBytes(), 0u);
    return;
  }
  ASSERT_TRUE(UseGpu(0).ok());
  EXPECT_GT(FreeGpuBytes(), 0u);
  EXPECT_LE(FreeGpuBytes(), gpus->front().memory_bytes);
}

TEST(Owners, RefuseWithAReasonWhereThereIsNoGpu) {
  if (ListGpus().ok()) GTEST_SKIP() << "There is a GPU: owners_test.cc looks at the owners.";
  const Status reasons[] = {DeviceBuffer::Allocate(16).status(),
                            PinnedBuffer::Allocate(16).status(),
                            Stream::Create(Stream::Priority::kHigh).status(),
                            Event::Create(Event::WaitMode::kSpin).status(),
                            Graph::Capture(Stream(), [] { return Status(); }).status()};
  for (const Status& reason : reasons) {
    EXPECT_FALSE(reason.ok());
    EXPECT_EQ(reason.code(), StatusCode::kGpuUnavailable);
    EXPECT_FALSE(reason.message().empty());
  }
  PinnedMemory memory;
  EXPECT_THROW((void)memory.allocate(100), std::bad_alloc);
}

}  // namespace
}  // namespace lattice
