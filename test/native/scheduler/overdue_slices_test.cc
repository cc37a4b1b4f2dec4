#include "native/scheduler/overdue_slices.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace lattice {
namespace {

using namespace std::chrono_literals;

class OverdueSlicesTest : public testing::Test {
 protected:
  RunningSlicePtr Begin(Clock::duration allowed) {
    auto slice = std::make_shared<RunningSlice>();
    overdue_.Begin(slice, allowed, now_);
    return slice;
  }

  std::vector<RunningSlicePtr> LookIn(Clock::duration time) {
    now_ += time;
    return overdue_.Look(now_);
  }

  // Until something is overdue.
  int LooksUntilOverdue(Clock::duration between) {
    for (int looks = 1; looks < 1000; ++looks) {
      if (!LookIn(between).empty()) return looks;
    }
    return -1;
  }

  Clock::time_point now_ = Clock::time_point() + 1h;
  OverdueSlices overdue_;
};

TEST_F(OverdueSlicesTest, ASliceIsOverdueOnceItHasHadAllThatItMayTake) {
  const RunningSlicePtr slice = Begin(60s);
  for (int second = 1; second < 60; ++second) EXPECT_TRUE(LookIn(1s).empty()) << second;
  EXPECT_FALSE(overdue_.empty());
  EXPECT_EQ(LookIn(1s), std::vector{slice});
  EXPECT_TRUE(overdue_.empty());
  EXPECT_TRUE(LookIn(60s).empty());  // once
}

TEST_F(OverdueSlicesTest, EachHasItsOwnTimeAndOneThatEndedHasNone) {
  const RunningSlicePtr first = Begin(10s);
  const RunningSlicePtr gone = Begin(10s);
  for (int second = 0; second < 5; ++second) EXPECT_TRUE(LookIn(1s).empty());
  const RunningSlicePtr second = Begin(10s);
  overdue_.End(gone);
  EXPECT_EQ(LooksUntilOverdue(1s), 5);
  EXPECT_FALSE(overdue_.empty());
  EXPECT_EQ(LooksUntilOverdue(1s), 5);
  EXPECT_TRUE(overdue_.empty());
  overdue_.End(second);  // passed over
}

TEST_F(OverdueSlicesTest, SlicesOfOneDeviceCanBeTakenOut) {
  const RunningSlicePtr here = Begin(10s);
  const RunningSlicePtr there = Begin(10s);
  there->place = 1;
  EXPECT_EQ(overdue_.TakeAt(1), std::vector{there});
  EXPECT_TRUE(overdue_.TakeAt(1).empty());
  EXPECT_EQ(overdue_.TakeAt(0), std::vector{here});
  EXPECT_TRUE(overdue_.empty());
}

TEST_F(OverdueSlicesTest, TimeInWhichNobodyLookedDoesNotCount) {
  const RunningSlicePtr slice = Begin(60s);
  for (int look = 1; look < 60; ++look) EXPECT_TRUE(LookIn(1h).empty()) << look;
  EXPECT_EQ(LookIn(1h), std::vector{slice});
}

TEST_F(OverdueSlicesTest, LooksThatComeMoreOftenCountWhatPassed) {
  const RunningSlicePtr slice = Begin(10s);
  EXPECT_EQ(LooksUntilOverdue(100ms), 100);
}

TEST_F(OverdueSlicesTest, AShortTimeHasShortTicks) {
  const RunningSlicePtr slice = Begin(80ms);
  EXPECT_EQ(overdue_.next_look(), now_ + 10ms);
  EXPECT_EQ(LooksUntilOverdue(1h), 8);
}

TEST_F(OverdueSlicesTest, LooksAreOneATickWhileThereAreSlicesAndElseNone) {
  EXPECT_EQ(overdue_.next_look(), Clock::time_point::max());
  const auto first_look = now_ + 1s;
  for (int slices = 0; slices < 900; ++slices) {
    const RunningSlicePtr slice = Begin(60s);
    EXPECT_EQ(overdue_.next_look(), first_look);
    now_ += 1ms;
    overdue_.End(slice);
  }
  const RunningSlicePtr slice = Begin(60s);
  EXPECT_TRUE(LookIn(100ms).empty());
  EXPECT_EQ(overdue_.next_look(), now_ + 1s);
  overdue_.End(slice);
  EXPECT_TRUE(LookIn(1s).empty());
  EXPECT_EQ(overdue_.next_look(), Clock::time_point::max());
}

}  // namespace
}  // namespace lattice
