#include "native/base/median.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace lattice {
namespace {

TEST(MedianTest, HalfOfTheSamplesAreOnEachSide) {
  std::mt19937 random(7);
  for (size_t count = 1; count < 60; ++count) {
    std::vector<double> samples;
    for (size_t i = 0; i < count; ++i) samples.push_back(static_cast<double>(random() % 20));
    const double median = Median(samples);
    const auto below = std::count_if(samples.begin(), samples.end(),
                                     [&](double sample) { return sample < median; });
    const auto above = std::count_if(samples.begin(), samples.end(),
                                     [&](double sample) { return sample > median; });
    EXPECT_LE(static_cast<size_t>(below), count / 2) << count;
    EXPECT_LE(static_cast<size_t>(above), count / 2) << count;
    EXPECT_NE(std::find(samples.begin(), samples.end(), median), samples.end());
  }
}

}  // namespace
}  // namespace lattice
