#include "native/engine/block_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <thread>
#include <vector>

namespace lattice {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

TEST(BlockPoolTest, ABlockIsUsedAgainForAnImageOfItsSize) {
  BlockPool pixels({.most_idle_bytes = 8 * kMiB, .smallest = kMiB});
  void* const first = pixels.allocate(2 * kMiB + 100);
  pixels.deallocate(first, 2 * kMiB + 100);
  EXPECT_GE(pixels.idle_bytes(), 2 * kMiB);
  void* const again = pixels.allocate(2 * kMiB + 90);  // the same when rounded up
  EXPECT_EQ(again, first);
  EXPECT_EQ(pixels.idle_bytes(), 0u);
  pixels.deallocate(again, 2 * kMiB + 90);
}

TEST(BlockPoolTest, KeepsTheBlocksThatCameBackLastUpToItsLimit) {
  BlockPool pixels({.most_idle_bytes = 5 * kMiB, .smallest = kMiB});
  void* const old = pixels.allocate(2 * kMiB);
  void* const fresh = pixels.allocate(4 * kMiB);
  pixels.deallocate(old, 2 * kMiB);
  pixels.deallocate(fresh, 4 * kMiB);
  EXPECT_EQ(pixels.idle_bytes(), 4 * kMiB);
  void* const kept = pixels.allocate(4 * kMiB);
  EXPECT_EQ(kept, fresh);
  pixels.deallocate(kept, 4 * kMiB);
}

TEST(BlockPoolTest, SmallAndVeryLargeBlocksAreNotKept) {
  BlockPool pixels({.most_idle_bytes = 4 * kMiB, .smallest = kMiB});
  for (const size_t bytes : {size_t{100}, kMiB / 2, 5 * kMiB}) {
    pixels.deallocate(pixels.allocate(bytes), bytes);
    EXPECT_EQ(pixels.idle_bytes(), 0u) << bytes;
  }
}

// As pinned memory is pooled: every block, from any source.
TEST(BlockPoolTest, PowersOfTwoOfASourceAreUsedAgain) {
  std::pmr::unsynchronized_pool_resource source;
  BlockPool pixels({.most_idle_bytes = 4 * kMiB, .powers_of_two = true, .source = &source});
  void* const small = pixels.allocate(100);
  pixels.deallocate(small, 100);
  EXPECT_EQ(pixels.idle_bytes(), kMiB / 4);
  void* const first = pixels.allocate(kMiB + 1);
  pixels.deallocate(first, kMiB + 1);
  EXPECT_EQ(pixels.idle_bytes(), 2 * kMiB + kMiB / 4);
  void* const again = pixels.allocate(2 * kMiB);
  EXPECT_EQ(again, first);
  pixels.deallocate(again, 2 * kMiB);
}

TEST(BlockPoolTest, ThreadsNeverShareABlock) {
  BlockPool pixels({.most_idle_bytes = 16 * kMiB, .smallest = kMiB});
  std::vector<std::thread> threads;
  for (uint8_t number = 1; number <= 4; ++number) {
    threads.emplace_back([&pixels, number] {
      std::mt19937 random(number);
      for (int round = 0; round < 200; ++round) {
        const size_t bytes = kMiB + random() % (2 * kMiB);
        std::pmr::vector<uint8_t> image(bytes, number, &pixels);
        std::this_thread::yield();
        for (size_t at = 0; at < bytes; at += 4096) ASSERT_EQ(image[at], number);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(pixels.idle_bytes(), 16 * kMiB);
}

}  // namespace
}  // namespace lattice
