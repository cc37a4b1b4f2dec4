#include "native/scheduler/look_ahead.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace lattice {
namespace {

TEST(LookAheadTest, CountsImagesAndBytes) {
  LookAhead ahead(3, 100);
  EXPECT_EQ(ahead.Available(60), 3u);
  ahead.Set(1, 60, true);
  EXPECT_EQ(ahead.bytes(), 60u);
  EXPECT_EQ(ahead.Available(40), 2u);
  EXPECT_EQ(ahead.Available(41), 0u);
  EXPECT_EQ(ahead.Available(0), 2u);  // the size is not known yet
  ahead.Set(0, 30, false);
  EXPECT_EQ(ahead.Available(70), 2u);
  ahead.Set(1, 30, false);
  EXPECT_EQ(ahead.Available(100), 3u);
  EXPECT_EQ(ahead.bytes(), 0u);
}

TEST(LookAheadTest, AnImageFitsWhereThereIsNoOther) {
  LookAhead ahead(1, 100);
  EXPECT_TRUE(ahead.Fits(5000));
  ahead.Set(1, 5000, true);
  EXPECT_FALSE(ahead.Fits(1));
  EXPECT_FALSE(ahead.Fits(0));
}

TEST(LookAheadTest, WithoutLimitsEverythingFits) {
  LookAhead ahead(LookAhead::kUnlimited, LookAhead::kUnlimited);
  ahead.Set(5, 5000, true);
  EXPECT_TRUE(ahead.Fits(LookAhead::kUnlimited / 2));
  EXPECT_GT(ahead.Available(5000), 1'000'000u);
}

// A caller that asks first keeps to the bytes, or is alone.
TEST(LookAheadTest, HoldsTheBytesInAnyOrder) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    LookAhead ahead(1000, 1000);
    std::vector<size_t> held;
    size_t sum = 0;
    for (int i = 0; i < 2000; ++i) {
      const size_t bytes = 1 + random() % (random() % 8 == 0 ? 3000 : 200);
      if (random() % 2 == 0 && ahead.Fits(bytes)) {
        held.push_back(bytes);
        ahead.Set(1, bytes, true);
        sum += bytes;
      } else if (!held.empty()) {
        const size_t at = random() % held.size();
        sum -= held[at];
        ahead.Set(1, held[at], false);
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
      }
      ASSERT_EQ(ahead.bytes(), sum);
      ASSERT_TRUE(sum <= 1000 || held.size() == 1) << seed;
    }
  }
}

}  // namespace
}  // namespace lattice
