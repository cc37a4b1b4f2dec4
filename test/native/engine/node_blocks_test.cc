#include "native/engine/node_blocks.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace lattice {
namespace {

using Block = std::unique_ptr<int>;  // holds the node that it is on

TEST(NodeBlocksTest, ABlockComesBackToItsNodeAndSize) {
  NodeBlocks<Block> blocks(100);
  EXPECT_FALSE(blocks.Keep(1, 30, std::make_unique<int>(5)).has_value());
  EXPECT_EQ(blocks.idle_bytes(), 30u);
  EXPECT_FALSE(blocks.Take(0, 30).has_value());
  EXPECT_FALSE(blocks.Take(1, 29).has_value());
  auto taken = blocks.Take(1, 30);
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(**taken, 5);
  EXPECT_EQ(blocks.idle_bytes(), 0u);
  EXPECT_FALSE(blocks.Take(1, 30).has_value());
}

TEST(NodeBlocksTest, AFullNodeHandsBlocksBackAndOthersDoNot) {
  NodeBlocks<Block> blocks(100);
  EXPECT_FALSE(blocks.Keep(0, 80, std::make_unique<int>(0)).has_value());
  const auto back = blocks.Keep(0, 30, std::make_unique<int>(9));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(**back, 9);
  EXPECT_FALSE(blocks.Keep(1, 80, std::make_unique<int>(1)).has_value());
  EXPECT_EQ(blocks.idle_bytes(), 160u);
}

TEST(NodeBlocksTest, NoBlockIsLostOrChangesItsNode) {
  constexpr size_t kMost = 1'000;
  NodeBlocks<Block> blocks(kMost);
  std::mt19937 random(5);
  std::map<std::pair<int, size_t>, int> idle;
  size_t bytes = 0;
  for (int round = 0; round < 5'000; ++round) {
    const int node = static_cast<int>(random() % 3);
    const size_t size = 50 * (random() % 4 + 1);
    int& count = idle[{node, size}];
    if (random() % 2 == 0) {
      const auto taken = blocks.Take(node, size);
      ASSERT_EQ(taken.has_value(), count > 0);
      if (!taken) continue;
      EXPECT_EQ(**taken, node);
      --count;
      bytes -= size;
    } else if (!blocks.Keep(node, size, std::make_unique<int>(node))) {
      ++count;
      bytes += size;
    }
    ASSERT_EQ(blocks.idle_bytes(), bytes);
    ASSERT_LE(bytes, 3 * kMost);
  }
}

}  // namespace
}  // namespace lattice
