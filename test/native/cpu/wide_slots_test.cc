#include "native/cpu/wide_slots.h"

#include <gtest/gtest.h>

#include <vector>

namespace lattice {
namespace {

std::vector<int> Widths(int slots, int least) {
  std::vector<int> widths{least};
  while (const int wider = NextWideSlots(slots, widths.back())) widths.push_back(wider);
  return widths;
}

TEST(WideSlotsTest, EveryWidthDividesTheSlotsAndTheLastHasAll) {
  EXPECT_EQ(Widths(1, 1), (std::vector<int>{1}));
  EXPECT_EQ(Widths(2, 2), (std::vector<int>{2}));
  EXPECT_EQ(Widths(8, 2), (std::vector<int>{2, 4, 8}));           // 16 threads
  EXPECT_EQ(Widths(6, 2), (std::vector<int>{2, 6}));              // 12
  EXPECT_EQ(Widths(32, 2), (std::vector<int>{2, 4, 8, 16, 32}));  // 64
  EXPECT_EQ(Widths(14, 2), (std::vector<int>{2, 14}));            // 28
}

TEST(WideSlotsTest, AWidthPaysWhereTwoImagesInTurnAreNoSlowerThanSideBySide) {
  EXPECT_TRUE(WiderPays(30, 20, 2));
  EXPECT_FALSE(WiderPays(30, 21, 2));
  EXPECT_TRUE(WiderPays(100, 40, 4));
  EXPECT_FALSE(WiderPays(100, 41, 4));
  EXPECT_FALSE(WiderPays(20, 18, 2));
}

}  // namespace
}  // namespace lattice
