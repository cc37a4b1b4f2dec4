// GPUs that fault, played by slots that say so.
#include "native/engine/device_slots.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace lattice {
namespace {

// Counts how many were freed.
struct Slot {
  explicit Slot(std::atomic<int>* count) : freed(count) {}
  ~Slot() { ++*freed; }
  std::atomic<int>* freed;
};

Status Lost() { return {StatusCode::kGpuLost, "sticky"}; }
Status Fine(int, const Slot&) { return {}; }

class DeviceSlotsTest : public testing::Test {
 protected:
  // Two slots each on GPUs 3 and 5.
  void SetUp() override {
    for (const int gpu : {3, 5}) {
      slots_.AddDevice(gpu);
      for (int i = 0; i < 2; ++i) slots_.Add(std::make_unique<Slot>(&freed_));
    }
  }

  std::atomic<int> freed_ = 0;
  DeviceSlots<Slot> slots_;
};

TEST_F(DeviceSlotsTest, NumbersGoDeviceByDevice) {
  std::vector<int> gpus;
  ASSERT_EQ(slots_.size(), 4u);
  for (size_t number = 0; number < 4; ++number) {
    EXPECT_TRUE(slots_
                    .Run(number,
                         [&](int gpu, const Slot&) {
                           gpus.push_back(gpu);
                           return Status();
                         })
                    .ok());
  }
  EXPECT_EQ(gpus, (std::vector<int>{3, 3, 5, 5}));
}

TEST_F(DeviceSlotsTest, ALostGpuIsNotTouchedAgainAndTheOtherGoesOn) {
  int touched = 0;
  EXPECT_EQ(slots_.Run(0, [&](int, const Slot&) { return Lost(); }).code(), StatusCode::kGpuLost);
  for (const size_t number : {0u, 1u}) {
    const Status status = slots_.Run(number, [&](int, const Slot&) {
      ++touched;
      return Status();
    });
    EXPECT_EQ(status.code(), StatusCode::kGpuLost);
  }
  EXPECT_EQ(touched, 0);
  EXPECT_TRUE(slots_.Run(2, Fine).ok());
  int ran_on = 0;
  EXPECT_TRUE(slots_
                  .RunAnywhere([&](int gpu, const Slot&) {
                    ran_on = gpu;
                    return Status();
                  })
                  .ok());
  EXPECT_EQ(ran_on, 5);
}

TEST_F(DeviceSlotsTest, OtherFailuresKeepTheGpu) {
  const auto fail = [](int, const Slot&) { return Status(StatusCode::kOverloaded, "full"); };
  EXPECT_EQ(slots_.Run(0, fail).code(), StatusCode::kOverloaded);
  EXPECT_TRUE(slots_.Run(0, Fine).ok());
  EXPECT_EQ(slots_.RunAnywhere([](int, const Slot&) { return Lost(); }).code(),
            StatusCode::kGpuLost);
  EXPECT_EQ(slots_.RunAnywhere(Fine).code(), StatusCode::kGpuLost);
}

TEST_F(DeviceSlotsTest, OneAtATimeOnASlotWhoeverAsks) {
  std::atomic<int> inside = 0;
  std::atomic<int> clashes = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const auto work = [&](int, const Slot&) {
        if (inside++ != 0) ++clashes;
        std::this_thread::yield();
        --inside;
        return Status();
      };
      for (int run = 0; run < 200; ++run) {
        EXPECT_TRUE((i % 2 == 0 ? slots_.Run(0, work) : slots_.RunAnywhere(work)).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(clashes, 0);
}

TEST(DeviceSlotsLifeTest, SlotsOfALostGpuAreLeftToTheProcess) {
  static std::atomic<int> freed = 0;
  {
    DeviceSlots<Slot> slots;
    slots.AddDevice(0);
    slots.Add(std::make_unique<Slot>(&freed));
    slots.AddDevice(1);
    slots.Add(std::make_unique<Slot>(&freed));
    (void)slots.Run(0, [](int, const Slot&) { return Lost(); });
    EXPECT_TRUE(slots.kept(0));
    EXPECT_FALSE(slots.kept(1));
  }
  EXPECT_EQ(freed, 1);
}

// A call into its driver may stand there for ever.
TEST(DeviceSlotsLifeTest, NobodyWaitsForASlotOfAGpuThatHangs) {
  std::atomic<int> freed = 0;
  DeviceSlots<Slot> slots;
  for (const int gpu : {83, 84}) {
    slots.AddDevice(gpu);
    slots.Add(std::make_unique<Slot>(&freed));
  }
  std::promise<void> inside;
  std::promise<void> over;
  std::thread standing([&] {
    EXPECT_TRUE(slots
                    .Run(0,
                         [&](int, const Slot&) {
                           inside.set_value();
                           over.get_future().wait();
                           return Status();
                         })
                    .ok());
  });
  inside.get_future().wait();
  LeaveGpu(83);
  EXPECT_EQ(slots.Run(0, Fine).code(), StatusCode::kGpuLost);
  EXPECT_TRUE(slots
                  .RunAnywhere([](int gpu, const Slot&) {
                    EXPECT_EQ(gpu, 84);
                    return Status();
                  })
                  .ok());
  over.set_value();
  standing.join();
}

// Whoever found it: another model's slice, another class, a decoder.
TEST(DeviceSlotsLifeTest, SlotsOfAGpuThatHangsAreLeftToTheProcessToo) {
  static std::atomic<int> freed = 0;
  {
    DeviceSlots<Slot> slots;
    for (const int gpu : {81, 82}) {
      slots.AddDevice(gpu);
      slots.Add(std::make_unique<Slot>(&freed));
    }
    LeaveGpu(82);
    EXPECT_FALSE(slots.kept(0));
    EXPECT_TRUE(slots.kept(1));
  }
  EXPECT_EQ(freed, 1);
}

}  // namespace
}  // namespace lattice
