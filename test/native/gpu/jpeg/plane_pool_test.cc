#include "native/gpu/jpeg/plane_pool.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace lattice::test {
namespace {

PlanePool::Block HostMemory(size_t bytes) {
  return {new uint8_t[bytes], std::default_delete<uint8_t[]>()};
}

TEST(PlanePool, PlanesHoldWholeBlocksAndDoNotOverlap) {
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    const int width = std::uniform_int_distribution(1, 5000)(random);
    const int height = std::uniform_int_distribution(1, 5000)(random);
    const PlaneLayout layout = LayOutPlanes(width, height);
    size_t end = 0;
    for (size_t i = 0; i < 3; ++i) {
      const int unit = i == 0 ? 16 : 8;
      const int across = i == 0 ? width : (width + 1) / 2;
      const int down = i == 0 ? height : (height + 1) / 2;
      EXPECT_EQ(layout.offsets[i] % 256, 0u);
      EXPECT_EQ(layout.pitches[i] % 256, 0);
      EXPECT_GE(layout.offsets[i], end);
      EXPECT_GE(layout.pitches[i], (across + unit - 1) / unit * unit);
      end = layout.offsets[i] + static_cast<size_t>(layout.pitches[i]) *
                                    static_cast<size_t>((down + unit - 1) / unit * unit);
    }
    EXPECT_EQ(layout.bytes, end);
  }
}

TEST(PlanePool, NeverPassesItsLimitAndLendsABlockToOneAtATime) {
  int refused = 0;
  for (unsigned seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    constexpr size_t kLimit = size_t{24} << 20;
    const auto allocated = std::make_shared<size_t>(0);
    const auto pool = PlanePool::Create(kLimit, [allocated](size_t bytes) -> PlanePool::Block {
      *allocated += bytes;
      return {new uint8_t[bytes], [allocated, bytes](uint8_t* memory) {
                *allocated -= bytes;
                delete[] memory;
              }};
    });
    std::vector<PlanePool::Block> lent;
    std::set<uint8_t*> in_use;
    for (int step = 0; step < 400; ++step) {
      if (!lent.empty() && random() % 2 == 0) {
        std::swap(lent[random() % lent.size()], lent.back());
        in_use.erase(lent.back().get());
        lent.pop_back();
      } else {
        PlanePool::Block block = pool->Take(1 + random() % (size_t{4} << 20));
        refused += block ? 0 : 1;
        if (!block) continue;
        ASSERT_TRUE(in_use.insert(block.get()).second);
        lent.push_back(std::move(block));
      }
      ASSERT_LE(*allocated, kLimit);
      ASSERT_EQ(*allocated, pool->held_bytes());
    }
    lent.clear();
    EXPECT_TRUE(pool->Take(size_t{20} << 20)) << "kept blocks are freed";
  }
  EXPECT_GT(refused, 0);
}

TEST(PlanePool, UsesMemoryAgainAndLivesUntilItsLastBlock) {
  int allocations = 0;
  auto pool = PlanePool::Create(1 << 30, [&](size_t bytes) {
    ++allocations;
    return HostMemory(bytes);
  });
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(pool->Take(3'000'000 + static_cast<size_t>(i)));
  EXPECT_EQ(allocations, 1);
  const PlanePool::Block last = pool->Take(1000);
  pool.reset();
  last.get()[0] = 1;
}

TEST(PlanePool, AtItsLimitASmallerPictureGetsALargerBlock) {
  constexpr size_t kLimit = size_t{64} << 20;
  constexpr size_t kLarge = size_t{16} << 20;
  constexpr size_t kSmall = size_t{3} << 20;
  int allocations = 0;
  const auto pool = PlanePool::Create(kLimit, [&](size_t bytes) {
    ++allocations;
    return HostMemory(bytes);
  });
  const auto take_all = [&](size_t bytes) {
    std::vector<PlanePool::Block> lent;
    while (PlanePool::Block block = pool->Take(bytes)) lent.push_back(std::move(block));
    return lent.size();
  };
  EXPECT_EQ(take_all(kLarge), 4u);
  EXPECT_EQ(take_all(kSmall), 4u);
  EXPECT_EQ(take_all(kLarge), 4u);
  EXPECT_EQ(allocations, 4);
  EXPECT_EQ(pool->held_bytes(), kLimit);
  EXPECT_TRUE(pool->Take(2 * kLarge)) << "smaller ones are freed for a larger one";
  EXPECT_EQ(allocations, 5);
}

TEST(PlanePool, GivesNothingWhereTheGpuIsFull) {
  bool full = true;
  const auto pool =
      PlanePool::Create(1 << 30, [&](size_t bytes) { return full ? nullptr : HostMemory(bytes); });
  EXPECT_FALSE(pool->Take(1000));
  EXPECT_EQ(pool->held_bytes(), 0u);
  full = false;
  EXPECT_TRUE(pool->Take(1000));
}

}  // namespace
}  // namespace lattice::test
