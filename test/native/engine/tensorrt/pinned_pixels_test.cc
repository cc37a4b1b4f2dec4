// Builds without CUDA have no pinned memory.
#ifdef LATTICE_WITH_CUDA
#include "native/engine/tensorrt/pinned_pixels.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory_resource>
#include <new>
#include <string>

#include "native/engine/tensorrt/gpu_engine.h"

namespace lattice {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

// One node: the runtime's own memory. Two: pages that this thread touched first.
class PinnedPixelsTest : public testing::TestWithParam<size_t> {};

TEST_P(PinnedPixelsTest, BlocksAreUsedAgainUpToTheLimitOfANode) {
  const auto gpus = IdentifyUsableGpus();
  if (!gpus.ok()) GTEST_SKIP() << gpus.status().message();
  const size_t nodes = GetParam();
  PinnedPixels pixels(nodes * 4 * kMiB, nodes);
  void* const first = pixels.allocate(kMiB + 1);
  std::memset(first, 1, kMiB + 1);
  void* const second = pixels.allocate(4 * kMiB);
  pixels.deallocate(first, kMiB + 1);
  EXPECT_EQ(pixels.idle_bytes(), 2 * kMiB);
  void* const again = pixels.allocate(2 * kMiB);
  EXPECT_EQ(again, first);
  pixels.deallocate(again, 2 * kMiB);
  pixels.deallocate(second, 4 * kMiB);  // all that a node keeps: the other one goes
  EXPECT_EQ(pixels.idle_bytes(), 4 * kMiB);
  void* const large = pixels.allocate(4 * kMiB + 1);
  pixels.deallocate(large, 4 * kMiB + 1);  // more than a node keeps
  EXPECT_EQ(pixels.idle_bytes(), 4 * kMiB);
  EXPECT_EQ(pixels.allocate(4 * kMiB), second);
  pixels.deallocate(second, 4 * kMiB);
}

TEST_P(PinnedPixelsTest, WhoMayNotWaitGetsIdleBlocksOrOrdinaryMemory) {
  const auto gpus = IdentifyUsableGpus();
  if (!gpus.ok()) GTEST_SKIP() << gpus.status().message();
  const size_t nodes = GetParam();
  PinnedPixels pixels(nodes * 4 * kMiB, nodes);
  std::pmr::memory_resource& ready = *pixels.idle_only();
  void* const ordinary = ready.allocate(kMiB);
  EXPECT_FALSE(pixels.Has(ordinary));
  ready.deallocate(ordinary, kMiB);
  EXPECT_EQ(pixels.idle_bytes(), 0u);
  void* const block = pixels.allocate(kMiB);
  pixels.deallocate(block, kMiB);
  void* const again = ready.allocate(kMiB - 5);
  EXPECT_EQ(again, block);
  EXPECT_TRUE(pixels.Has(again));
  EXPECT_EQ(pixels.idle_bytes(), 0u);
  ready.deallocate(again, kMiB - 5);
  EXPECT_EQ(pixels.idle_bytes(), kMiB);
}

TEST_P(PinnedPixelsTest, WithoutAGpuThereIsNoMemory) {
  if (IdentifyUsableGpus().ok()) GTEST_SKIP() << "left out: this machine has a GPU";
  PinnedPixels pixels(kMiB, GetParam());
  EXPECT_THROW((void)pixels.allocate(100), std::bad_alloc);
  EXPECT_EQ(pixels.idle_bytes(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Nodes, PinnedPixelsTest, testing::Values(size_t{1}, size_t{2}),
                         [](const auto& info) {
                           return "gpu_nodes_" + std::to_string(info.param);
                         });

}  // namespace
}  // namespace lattice
#endif  // LATTICE_WITH_CUDA
