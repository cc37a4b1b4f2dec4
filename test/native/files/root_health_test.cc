#include "native/files/root_health.h"

#include <gtest/gtest.h>

namespace lattice {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr VolumePatience kPatience{seconds(5), seconds(2), seconds(16), 3};

TEST(RootHealthTest, ARootHangsFromTheFirstAbandonedReadUntilOneReturns) {
  RootHealth roots(2, kPatience);
  const Clock::time_point now;
  EXPECT_TRUE(roots.MayEnter(0, now));
  roots.Abandon(0, now);
  EXPECT_FALSE(roots.MayEnter(0, now));
  EXPECT_TRUE(roots.MayEnter(1, now));
  EXPECT_EQ(roots.Hanging(), std::vector<size_t>{0});
  roots.Answered(0);
  EXPECT_TRUE(roots.MayEnter(0, now));
  EXPECT_TRUE(roots.Hanging().empty());
}

TEST(RootHealthTest, TrialsComeHalfAsOftenEachTime) {
  RootHealth roots(1, kPatience);
  const Clock::time_point start;
  roots.Abandon(0, start);
  std::vector<int> trials;
  for (int second = 0; second <= 80; ++second) {
    if (!roots.MayEnter(0, start + seconds(second))) continue;
    trials.push_back(second);
    EXPECT_FALSE(roots.MayEnter(0, start + seconds(second))) << "one read is the trial";
  }
  EXPECT_EQ(trials, (std::vector<int>{2, 4, 8, 16, 32, 48, 64, 80}));
}

TEST(RootHealthTest, WithTooManyAbandonedReadsNothingIsTried) {
  RootHealth roots(1, kPatience);
  Clock::time_point now;
  for (int i = 0; i < kPatience.most_abandoned; ++i) roots.Abandon(0, now);
  now += std::chrono::hours(1);
  EXPECT_FALSE(roots.MayEnter(0, now));
  // Another read returned, but the abandoned ones have not.
  roots.Answered(0);
  EXPECT_FALSE(roots.MayEnter(0, now));
  roots.EndAbandoned(0);
  EXPECT_TRUE(roots.MayEnter(0, now));
}

TEST(RootHealthTest, ARootThatHangsAgainIsTriedAsAtFirst) {
  RootHealth roots(1, kPatience);
  Clock::time_point now;
  roots.Abandon(0, now);
  for (int i = 0; i < 4; ++i) {
    now += seconds(16);
    ASSERT_TRUE(roots.MayEnter(0, now));
  }
  roots.Answered(0);
  roots.Abandon(0, now);
  EXPECT_FALSE(roots.MayEnter(0, now + milliseconds(1'999)));
  EXPECT_TRUE(roots.MayEnter(0, now + milliseconds(2'000)));
}

}  // namespace
}  // namespace lattice
