#include "native/base/serial_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace lattice {
namespace {

TEST(SerialThreadTest, RunsInOrderAndFinishesWhatWasPostedBeforeStop) {
  std::vector<int> ran;
  SerialThread thread;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(thread.Post([&ran, i] { ran.push_back(i); }));
  thread.Stop();
  ASSERT_EQ(ran.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ran[static_cast<size_t>(i)], i);
}

TEST(SerialThreadTest, DropsWorkAfterStopAndStopsTwice) {
  std::atomic<bool> ran = false;
  SerialThread thread;
  thread.Stop();
  thread.Stop();
  EXPECT_FALSE(thread.Post([&ran] { ran = true; }));
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace lattice
