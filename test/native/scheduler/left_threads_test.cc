#include "native/scheduler/left_threads.h"

#include <gtest/gtest.h>

namespace lattice {
namespace {

class LeftThreadsTest : public testing::Test {
 protected:
  LeftThreadsTest() { other_.join(); }

  const std::thread::id here_ = std::this_thread::get_id();
  std::thread other_{[] {}};
  const std::thread::id there_ = other_.get_id();
  LeftThreads left_;
};

TEST_F(LeftThreadsTest, WhoComesBackBeforeTheEndBelongsToTheOthersAgain) {
  left_.Leave(here_);
  left_.Leave(there_);
  EXPECT_TRUE(left_.TakeBack(here_));
  EXPECT_EQ(left_.Close(), std::set{there_});
}

TEST_F(LeftThreadsTest, WhoComesBackAfterTheEndIsLeftForGood) {
  left_.Leave(here_);
  EXPECT_EQ(left_.Close(), std::set{here_});
  EXPECT_FALSE(left_.TakeBack(here_));
  EXPECT_EQ(left_.Close(), std::set{here_});
}

}  // namespace
}  // namespace lattice
