#include "native/base/byte_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace lattice {
namespace {

// Megabytes that a decoder overwrites must not be filled before.
TEST(ByteBuffer, LeavesNewBytesAsTheirMemoryIs) {
  std::array<uint8_t, 256> memory;
  memory.fill(0x5A);
  std::pmr::monotonic_buffer_resource resource(memory.data(), memory.size(),
                                               std::pmr::null_memory_resource());
  ByteBuffer made(100, &resource);
  EXPECT_EQ(std::count(made.begin(), made.end(), 0x5A), 100);
  ByteBuffer grown(&resource);
  grown.resize(50);
  EXPECT_EQ(std::count(grown.begin(), grown.end(), 0x5A), 50);
}

TEST(ByteBuffer, HoldsValuesThatItIsGiven) {
  const ByteBuffer filled(3, 7);
  EXPECT_EQ(filled, (ByteBuffer{7, 7, 7}));
  ByteBuffer copy = filled;
  copy.push_back(8);
  copy.resize(5, 9);
  EXPECT_EQ(copy, (ByteBuffer{7, 7, 7, 8, 9}));
  const ByteBuffer moved = std::move(copy);
  EXPECT_EQ(moved.size(), 5u);
}

}  // namespace
}  // namespace lattice
