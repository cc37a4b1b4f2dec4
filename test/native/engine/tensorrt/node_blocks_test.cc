#include "native/engine/tensorrt/node_blocks.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace lattice {
namespace {

// Says where it is.
struct Where {
  int node = 0;
  size_t size = 0;
};
using Block = std::unique_ptr<Where>;

Block Of(int node, size_t size) { return std::make_unique<Where>(Where{node, size}); }

TEST(NodeBlocksTest, ABlockComesBackToItsNodeAndSize) {
  NodeBlocks<Block> blocks(100);
  EXPECT_TRUE(blocks.Keep(1, 30, Of(1, 30)).empty());
  EXPECT_EQ(blocks.idle_bytes(), 30u);
  EXPECT_FALSE(blocks.Take(0, 30).has_value());
  EXPECT_FALSE(blocks.Take(1, 29).has_value());
  auto taken = blocks.Take(1, 30);
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ((*taken)->node, 1);
  EXPECT_EQ(blocks.idle_bytes(), 0u);
  EXPECT_FALSE(blocks.Take(1, 30).has_value());
}

TEST(NodeBlocksTest, AFullNodeHandsBlocksBackAndOthersDoNot) {
  NodeBlocks<Block> blocks(100);
  EXPECT_TRUE(blocks.Keep(0, 60, Of(0, 60)).empty());
  const auto back = blocks.Keep(0, 60, Of(0, 60));
  ASSERT_EQ(back.size(), 1u);
  EXPECT_EQ(back[0]->size, 60u);
  EXPECT_TRUE(blocks.Keep(1, 80, Of(1, 80)).empty());
  EXPECT_EQ(blocks.idle_bytes(), 140u);
  // Too large even for an empty shelf: nothing makes room for it.
  EXPECT_EQ(blocks.Keep(1, 101, Of(1, 101)).size(), 1u);
  EXPECT_EQ(blocks.idle_bytes(), 140u);
}

TEST(NodeBlocksTest, NothingIsHandedBackOnceAllAreKept) {
  NodeBlocks<Block> blocks(100);
  EXPECT_TRUE(blocks.Keep(0, 60, Of(0, 60)).empty());
  blocks.KeepAll();
  EXPECT_TRUE(blocks.Keep(0, 60, Of(0, 60)).empty());
  EXPECT_TRUE(blocks.Keep(0, 500, Of(0, 500)).empty());
  EXPECT_EQ(blocks.idle_bytes(), 620u);
  EXPECT_TRUE(blocks.Take(0, 500).has_value());
}

TEST(NodeBlocksTest, SizesThatNobodyAsksForMakeRoom) {
  NodeBlocks<Block> blocks(100);
  EXPECT_TRUE(blocks.Keep(0, 40, Of(0, 40)).empty());
  EXPECT_TRUE(blocks.Keep(0, 50, Of(0, 50)).empty());
  const auto freed = blocks.Keep(0, 20, Of(0, 20));
  ASSERT_EQ(freed.size(), 1u);
  EXPECT_EQ(freed[0]->size, 50u);
  EXPECT_EQ(blocks.idle_bytes(), 60u);
  EXPECT_TRUE(blocks.Take(0, 20).has_value());
  EXPECT_TRUE(blocks.Take(0, 40).has_value());
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
      EXPECT_EQ((*taken)->node, node);
      EXPECT_EQ((*taken)->size, size);
      --count;
      bytes -= size;
    } else {
      ++count;
      bytes += size;
      for (const Block& freed : blocks.Keep(node, size, Of(node, size))) {
        EXPECT_EQ(freed->node, node);
        --idle[{freed->node, freed->size}];
        bytes -= freed->size;
      }
    }
    ASSERT_EQ(blocks.idle_bytes(), bytes);
    ASSERT_LE(bytes, 3 * kMost);
  }
}

}  // namespace
}  // namespace lattice
