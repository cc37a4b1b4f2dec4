#include "native/engine/input_buffers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

namespace lattice {
namespace {

TEST(InputBuffersTest, AlignsAndReusesTheSameSizeOnly) {
  const auto pool = InputBuffers::Create(2);
  float* first = nullptr;
  {
    const InputBuffer buffer = pool->Take(100);
    first = buffer.data();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
    EXPECT_EQ(buffer.size(), 100u);
  }
  const InputBuffer other = pool->Take(200);
  EXPECT_NE(other.data(), first);
  const InputBuffer again = pool->Take(100);
  EXPECT_EQ(again.data(), first);
}

TEST(InputBuffersTest, MovesAndOutlivesItsPool) {
  auto pool = InputBuffers::Create(0);
  InputBuffer a = pool->Take(16);
  float* const data = a.data();
  pool.reset();
  InputBuffer b = std::move(a);
  EXPECT_EQ(b.data(), data);
  InputBuffer c;
  c = std::move(b);
  EXPECT_EQ(c.data(), data);
  c.data()[15] = 1;
  c = InputBuffer();
  EXPECT_EQ(c.data(), nullptr);
}

TEST(InputBuffersTest, DropsTheOldestBeyondItsLimit) {
  const auto pool = InputBuffers::Create(1);
  {
    const InputBuffer small = pool->Take(16);
    const InputBuffer large = pool->Take(1 << 20);
  }
  // Destroyed in reverse: `large` came back first and was dropped for `small`.
  const InputBuffer small = pool->Take(16);
  EXPECT_NE(small.data(), nullptr);
}

}  // namespace
}  // namespace lattice
