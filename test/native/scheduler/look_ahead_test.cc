#include "native/scheduler/look_ahead.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace lattice {
namespace {

TEST(LookAheadTest, CountsImagesAndBytes) {
  LookAhead ahead(3, 100);
  EXPECT_EQ(ahead.Room(60), 3u);
  size_t held = 0;
  ahead.AddImage();
  ahead.Hold(60, &held);
  EXPECT_EQ(held, 60u);
  EXPECT_EQ(ahead.Room(40), 2u);
  EXPECT_EQ(ahead.Room(41), 0u);
  EXPECT_EQ(ahead.Room(0), 2u);  // its header will say
  ahead.Hold(30, &held);
  EXPECT_EQ(ahead.bytes(), 30u);
  EXPECT_EQ(ahead.Room(70), 2u);
  ahead.RemoveImage();
  ahead.Hold(0, &held);
  EXPECT_EQ(ahead.images(), 0u);
  EXPECT_EQ(ahead.bytes(), 0u);
}

TEST(LookAheadTest, AnImageFitsWhereThereIsNoOther) {
  LookAhead ahead(1, 100);
  EXPECT_TRUE(ahead.Fits(5000));
  size_t held = 0;
  ahead.Hold(5000, &held);
  EXPECT_FALSE(ahead.Fits(1));
  EXPECT_FALSE(ahead.Fits(0));
}

// Whoever asks first keeps to the bytes, or is alone.
TEST(LookAheadTest, HoldsTheBytesInAnyOrder) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    LookAhead ahead(1000, 1000);
    std::vector<size_t> held;
    size_t sum = 0;
    for (int i = 0; i < 2000; ++i) {
      const size_t bytes = 1 + random() % (random() % 8 == 0 ? 3000 : 200);
      if (random() % 2 == 0 && ahead.Fits(bytes)) {
        held.push_back(0);
        ahead.Hold(bytes, &held.back());
        sum += bytes;
      } else if (!held.empty()) {
        const size_t at = random() % held.size();
        sum -= held[at];
        ahead.Hold(0, &held[at]);
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
      }
      ASSERT_EQ(ahead.bytes(), sum);
      ASSERT_TRUE(sum <= 1000 || held.size() == 1) << seed;
    }
  }
}

}  // namespace
}  // namespace lattice
