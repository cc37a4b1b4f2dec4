#include "native/cuda/patient_wait.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace lattice {
namespace {

using namespace std::chrono_literals;

// Passes only while somebody sleeps or asks.
struct MadeUpTime {
  struct State {
    Clock::time_point now{};
    std::vector<Clock::duration> sleeps;
    int looks = 0;
  };
  Clock::time_point Now() const {
    ++state->looks;
    return state->now;
  }
  void Sleep(Clock::duration time) const {
    state->sleeps.push_back(time);
    state->now += time;
  }
  State* state;
};

class PatientWaitTest : public testing::TestWithParam<WaitMode> {
 protected:
  // Over after `takes`; a question takes a microsecond.
  bool Wait(Clock::duration takes, Clock::duration patience) {
    const auto over = state_.now + takes;
    return WaitPatiently(
        GetParam(), patience,
        [&] {
          ++questions_;
          state_.now += 1us;
          return state_.now >= over;
        },
        MadeUpTime{&state_});
  }

  MadeUpTime::State state_;
  int questions_ = 0;
};

TEST_P(PatientWaitTest, WhatIsOverAtOnceTakesOneQuestion) {
  EXPECT_TRUE(Wait(0us, 30s));
  EXPECT_EQ(questions_, 1);
  EXPECT_TRUE(state_.sleeps.empty());
}

TEST_P(PatientWaitTest, WhatNeverEndsIsGivenUpAfterThePatience) {
  const auto begun = state_.now;
  EXPECT_FALSE(Wait(Clock::duration::max() / 2, 2s));
  EXPECT_GE(state_.now - begun, 2s);
  EXPECT_LT(state_.now - begun, 2s + 1ms);
}

TEST_P(PatientWaitTest, AnAnswerIsSeenSoonAfterItIsThere) {
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    const auto takes = std::chrono::microseconds(1 + random() % (1u << random() % 20));
    const auto begun = state_.now;
    ASSERT_TRUE(Wait(takes, 30s));
    const auto late = state_.now - begun - takes;
    const auto step = std::clamp<Clock::duration>(takes / 7, 25us, 255us);
    ASSERT_LE(late, GetParam() == WaitMode::kSpin ? Clock::duration(1us) : step);
  }
}

TEST_P(PatientWaitTest, AnAnswerThatComesWhileThePatienceEndsCounts) {
  // Everything stood still for an hour, and then the answer is there.
  int questions = 0;
  EXPECT_TRUE(WaitPatiently(
      GetParam(), 100ms,
      [&] {
        if (++questions == 3) state_.now += 1h;
        return questions > 3;
      },
      MadeUpTime{&state_}));
}

TEST_P(PatientWaitTest, TheProcessMayStandStill) {
  int questions = 0;
  const bool over = WaitPatiently(
      GetParam(), 2s,
      [&] {
        if (++questions % 500 == 0) state_.now += 1h;
        return questions == 1600;  // after three hours, of which less than two seconds count
      },
      MadeUpTime{&state_});
  EXPECT_TRUE(over);
}

INSTANTIATE_TEST_SUITE_P(BothModes, PatientWaitTest,
                         testing::Values(WaitMode::kSpin, WaitMode::kBlock), [](const auto& mode) {
                           return mode.param == WaitMode::kSpin ? "spin" : "block";
                         });

TEST(PatientWaitModesTest, SpinningLooksAtTheClockOnceInManyQuestions) {
  MadeUpTime::State state;
  int questions = 0;
  EXPECT_TRUE(WaitPatiently(
      WaitMode::kSpin, 30s, [&] { return ++questions == 6400; }, MadeUpTime{&state}));
  EXPECT_LE(state.looks, 101);
  EXPECT_TRUE(state.sleeps.empty());
}

TEST(PatientWaitModesTest, SleepingAsksSomeFortyTimesInTenMilliseconds) {
  MadeUpTime::State state;
  int questions = 0;
  EXPECT_TRUE(WaitPatiently(
      WaitMode::kBlock, 30s,
      [&] {
        ++questions;
        return state.now.time_since_epoch() >= 10ms;
      },
      MadeUpTime{&state}));
  EXPECT_LE(questions, 70);
  for (const auto sleep : state.sleeps) {
    EXPECT_GE(sleep, 20us);
    EXPECT_LE(sleep, 250us);
  }
}

TEST(PatientWaitModesTest, WhatIsExpectedIsMostlySleptInOneGo) {
  const auto questions_of = [](Clock::duration takes, Clock::duration expected) {
    MadeUpTime::State state;
    int questions = 0;
    const auto over = [&] {
      ++questions;
      return state.now.time_since_epoch() >= takes;
    };
    EXPECT_TRUE(WaitPatiently(WaitMode::kBlock, 30s, over, MadeUpTime{&state}, expected));
    // As long as the next batches stay short, each wait expects less.
    EXPECT_LE(state.now.time_since_epoch(), std::max<Clock::duration>(takes + 251us, expected));
    return questions;
  };
  EXPECT_LE(questions_of(10ms, 10ms), 13);
  EXPECT_LE(questions_of(10ms, 9ms), 17);
  EXPECT_EQ(questions_of(2ms, 10ms), 2);
  EXPECT_EQ(questions_of(0ms, 10ms), 1);
  EXPECT_LE(questions_of(10s, 1h), 41'000);
}

TEST(PatientWaitModesTest, AHangIsFoundWhateverWasExpected) {
  MadeUpTime::State state;
  const auto never = [] { return false; };
  EXPECT_FALSE(WaitPatiently(WaitMode::kBlock, 2s, never, MadeUpTime{&state}, 1h));
  EXPECT_LT(state.now.time_since_epoch(), 2s + 1ms);
}

TEST(PatientWaitModesTest, GivesUpByTheRealClockToo) {
  for (const WaitMode mode : {WaitMode::kSpin, WaitMode::kBlock}) {
    const auto begun = Clock::now();
    EXPECT_FALSE(WaitPatiently(mode, 20ms, [] { return false; }));
    EXPECT_GE(Clock::now() - begun, 20ms);
  }
}

}  // namespace
}  // namespace lattice
