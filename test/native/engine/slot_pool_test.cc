// GPUs that fault, played by slots that say so.
#include "native/engine/slot_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace lattice {
namespace {

struct Slot {
  int number = 0;
};

Status Lost() { return {StatusCode::kGpuLost, "sticky"}; }

class SlotPoolTest : public testing::Test {
 protected:
  // Two slots each on GPUs 0 and 1.
  void SetUp() override {
    for (int number = 0; number < 4; ++number) {
      slots_[number].number = number;
      // A lost slot is leaked on purpose, so the pool gets copies.
      pool_.Add(number / 2, std::make_unique<Slot>(slots_[number]));
    }
  }

  Slot slots_[4];
  SlotPool<Slot> pool_;
};

TEST_F(SlotPoolTest, NoSlotIsUsedByTwoAtATime) {
  std::atomic<int> busy[4] = {};
  std::atomic<int> clashes = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int run = 0; run < 200; ++run) {
        const Status status = pool_.Run([&](int, const Slot& slot) {
          if (busy[slot.number]++ != 0) ++clashes;
          std::this_thread::yield();
          --busy[slot.number];
          return Status();
        });
        EXPECT_TRUE(status.ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(clashes, 0);
}

TEST_F(SlotPoolTest, ASliceOfALostGpuRunsOnTheOtherAndSoDoesAllThatComes) {
  std::vector<int> tried;
  const auto run = [&](int gpu, const Slot&) {
    tried.push_back(gpu);
    return gpu == 1 ? Lost() : Status();
  };
  EXPECT_TRUE(pool_.Run(run).ok());
  EXPECT_EQ(tried, (std::vector<int>{1, 0}));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(pool_.Run(run).ok());
  EXPECT_EQ(std::count(tried.begin(), tried.end(), 1), 1);
}

TEST_F(SlotPoolTest, OtherFailuresKeepTheGpu) {
  const auto fail = [](int, const Slot&) { return Status(StatusCode::kOverloaded, "full"); };
  EXPECT_EQ(pool_.Run(fail).code(), StatusCode::kOverloaded);
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(pool_.Run([](int, const Slot&) { return Status(); }).ok());
  }
}

TEST_F(SlotPoolTest, WithoutAGpuEverybodyGetsAnAnswer) {
  std::vector<std::thread> threads;
  std::atomic<int> lost = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const Status status = pool_.Run([](int, const Slot&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        return Lost();
      });
      if (status.code() == StatusCode::kGpuLost) ++lost;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lost, 8);
  EXPECT_EQ(pool_.Run([](int, const Slot&) { return Status(); }).code(), StatusCode::kGpuLost);
}

}  // namespace
}  // namespace lattice
