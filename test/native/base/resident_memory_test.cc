#include "native/base/resident_memory.h"

#include <gtest/gtest.h>

#include <vector>

namespace lattice {
namespace {

TEST(ResidentMemoryTest, CountsWhatWasTouched) {
  constexpr size_t kBytes = size_t{64} << 20;
  const size_t before = AnonymousResidentBytes();
  ASSERT_GT(before, 0U);
  const std::vector<char> touched(kBytes, 1);
  const size_t after = AnonymousResidentBytes();
  EXPECT_GE(after - before, kBytes * 9 / 10);
  EXPECT_LE(after - before, kBytes * 5 / 4);
  EXPECT_EQ(touched.back(), 1);
}

}  // namespace
}  // namespace lattice
