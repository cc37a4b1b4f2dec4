#include "native/model/half_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace lattice {
namespace {

// The value of a half by its definition, in double.
double Meaning(uint16_t half) {
  const int exponent = half >> 10 & 0x1f;
  const int fraction = half & 0x3ff;
  const double sign = half & 0x8000 ? -1 : 1;
  if (exponent == 31) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

TEST(HalfFloatTest, EveryHalfComesBack) {
  for (int i = 0; i <= 0xffff; ++i) {
    const auto half = static_cast<uint16_t>(i);
    const float value = FromHalfBits(half);
    if (std::isnan(Meaning(half))) {
      EXPECT_TRUE(std::isnan(value));
      EXPECT_TRUE(std::isnan(FromHalfBits(ToHalfBits(value))));
      EXPECT_EQ(ToHalfBits(value) & 0x8000, half & 0x8000);
    } else {
      ASSERT_EQ(static_cast<double>(value), Meaning(half)) << i;
      ASSERT_EQ(ToHalfBits(value), half) << i;
    }
  }
}

// Around each middle between two neighbours: below goes down, above goes up, itself to the even
// one.
TEST(HalfFloatTest, RoundsToNearestAndTiesToEven) {
  for (int i = 0; i < 0x7c00; ++i) {
    const auto lower = static_cast<uint16_t>(i);
    const auto upper = static_cast<uint16_t>(i + 1);
    const double above = upper == 0x7c00 ? 65536.0 : Meaning(upper);
    const auto middle = static_cast<float>((Meaning(lower) + above) / 2);  // exact
    ASSERT_EQ(ToHalfBits(std::nextafter(middle, 0.0f)), lower) << i;
    ASSERT_EQ(ToHalfBits(std::nextafter(middle, 1e9f)), upper) << i;
    ASSERT_EQ(ToHalfBits(middle), i % 2 == 0 ? lower : upper) << i;
    ASSERT_EQ(ToHalfBits(-middle), ToHalfBits(middle) | 0x8000) << i;
  }
}

TEST(HalfFloatTest, NoOtherHalfIsNearer) {
  std::mt19937 random(2);
  for (int round = 0; round < 200'000; ++round) {
    const auto value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    const uint16_t half = ToHalfBits(value);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(Meaning(half)));
      continue;
    }
    ASSERT_EQ(half >> 15, std::signbit(value) ? 1 : 0);
    if (std::abs(value) >= 65520.0f) {
      ASSERT_TRUE(std::isinf(Meaning(half)));
      continue;
    }
    const double error = std::abs(Meaning(half) - static_cast<double>(value));
    for (const int step : {-1, 1}) {
      const int other = (half & 0x7fff) + step;
      if (other < 0 || other >= 0x7c00) continue;
      const auto neighbour = static_cast<uint16_t>((half & 0x8000) | other);
      ASSERT_LE(error, std::abs(Meaning(neighbour) - static_cast<double>(value))) << value;
    }
  }
}

}  // namespace
}  // namespace lattice
