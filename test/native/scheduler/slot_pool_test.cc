#include "native/scheduler/slot_pool.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace lattice {
namespace {

TEST(SlotPoolTest, APlaceHasItsShareOfTheNumbers) {
  SlotPool pool(6, 3);
  EXPECT_EQ(pool.Take(1), 2u);
  EXPECT_EQ(pool.Take(1), 3u);
  EXPECT_EQ(pool.Take(1), std::nullopt);
  EXPECT_EQ(pool.Take(0), 0u);
  EXPECT_EQ(pool.Take(2), 4u);
  pool.GiveBack(3);
  EXPECT_EQ(pool.Take(1), 3u);
}

TEST(SlotPoolTest, NoSlotIsTakenTwiceAndNoneIsLost) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const size_t places = 1 + random() % 5;
    const size_t share = 1 + random() % 4;
    SlotPool pool(places * share, places);
    std::vector<std::set<size_t>> taken(places);
    for (int step = 0; step < 200; ++step) {
      const size_t place = random() % places;
      if (random() % 2 == 0 && !taken[place].empty()) {
        pool.GiveBack(*taken[place].begin());
        taken[place].erase(taken[place].begin());
        continue;
      }
      const auto slot = pool.Take(place);
      ASSERT_EQ(slot.has_value(), taken[place].size() < share);
      if (!slot) continue;
      ASSERT_EQ(*slot / share, place);
      ASSERT_TRUE(taken[place].insert(*slot).second);
    }
  }
}

}  // namespace
}  // namespace lattice
