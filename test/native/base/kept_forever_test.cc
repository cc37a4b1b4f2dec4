#include "native/base/kept_forever.h"

#include <gtest/gtest.h>

namespace lattice {
namespace {

struct Counted {
  explicit Counted(int* count) : freed(count) {}
  ~Counted() { ++*freed; }
  int* freed;
};

TEST(KeptForeverTest, WhatIsKeptIsNeverFreed) {
  static int freed = 0;
  auto shared = std::make_shared<Counted>(&freed);
  KeepForever(shared);
  EXPECT_GE(shared.use_count(), 2);
  shared.reset();
  KeepForever(std::make_unique<Counted>(&freed));
  KeepForever(std::shared_ptr<const void>());
  EXPECT_EQ(freed, 0);
}

}  // namespace
}  // namespace lattice
