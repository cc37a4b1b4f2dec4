#include "native/scheduler/free_slots.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace lattice {
namespace {

TEST(FreeSlotsTest, WideRangesBeginAtMultiplesOfTheirSize) {
  FreeSlots slots(4);
  EXPECT_EQ(slots.Take(1)->first, 0);
  EXPECT_EQ(slots.Take(2)->first, 2);
  EXPECT_FALSE(slots.Take(2));
  EXPECT_EQ(slots.Take(1)->first, 1);
  EXPECT_FALSE(slots.Take(1));
  slots.Give({0, 1});
  EXPECT_FALSE(slots.Take(2));  // slot 1 is taken
  slots.Give({2, 2});
  EXPECT_EQ(slots.free(), 3u);
  EXPECT_EQ(slots.Take(2)->first, 2);
}

TEST(FreeSlotsTest, NoSlotIsTakenTwice) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const int count = 1 << random() % 5;
    FreeSlots slots(count);
    std::vector<SlotRange> taken;
    for (int step = 0; step < 100; ++step) {
      const auto range = slots.Take(1 << random() % 3);
      if (range) taken.push_back(*range);
      if (!range || random() % 2 == 0) {
        if (taken.empty()) continue;
        std::swap(taken.back(), taken[random() % taken.size()]);
        slots.Give(taken.back());
        taken.pop_back();
      }
      std::set<int> numbers;
      size_t sum = 0;
      for (const SlotRange& each : taken) {
        EXPECT_EQ(each.first % each.count, 0);
        EXPECT_LE(each.first + each.count, count);
        for (int i = 0; i < each.count; ++i) numbers.insert(each.first + i);
        sum += static_cast<size_t>(each.count);
      }
      ASSERT_EQ(numbers.size(), sum) << seed;
      ASSERT_EQ(slots.free(), static_cast<size_t>(count) - sum);
    }
  }
}

}  // namespace
}  // namespace lattice
