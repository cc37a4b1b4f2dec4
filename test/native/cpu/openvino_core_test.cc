#include "native/cpu/openvino_core.h"

#include <gtest/gtest.h>

namespace lattice {
namespace {

TEST(CpuPropertiesTest, OnlyANetworkThatMustNotRunInEightBitsIsToldAboutThem) {
  constexpr char kEightBits[] = "LP_TRANSFORMS_MODE";
  EXPECT_FALSE(CpuProperties(1, 0, {}).contains(kEightBits));
  EXPECT_FALSE(CpuProperties(1, 0, {.bf16 = true}).contains(kEightBits));
  const ov::AnyMap floats = CpuProperties(1, 0, {.eight_bit = false});
  ASSERT_TRUE(floats.contains(kEightBits));
  EXPECT_FALSE(floats.at(kEightBits).as<bool>());
}

}  // namespace
}  // namespace lattice
