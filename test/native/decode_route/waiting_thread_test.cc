#include "native/decode_route/waiting_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <thread>

#include "native/decode_route/decode_router.h"
#include "test/native/decode_route/simulated_devices.h"

namespace lattice::test {
namespace {

RouteAnswer Decoded(const DecodeRequest& request) {
  return {RouteVerdict::kAnswered, DecodedImage{{}, NumberOf(request), 0, 1}};
}

class CoreRoute final : public DecodeRoute {
 public:
  const RouteDescription& description() const override { return description_; }
  bool Takes(const DecodeRequest&) const override { return true; }
  void Start(const DecodeRequest& request, CallerThread& caller, OnRouteAnswer on_answer) override {
    caller.Run([&request, on_answer = std::move(on_answer)] {
      std::this_thread::sleep_for(std::chrono::microseconds(300));
      on_answer(Decoded(request));
    });
  }

 private:
  const RouteDescription description_{"cpu", "cpu", 2, {}};
};

// A thread of its own answers; it refuses some images and is lost after `lifetime` of them.
class DeviceRoute final : public DecodeRoute {
 public:
  DeviceRoute(std::string name, int lifetime)
      : description_{name, name, 3, {}}, left_(lifetime), thread_([this] { Loop(); }) {}
  ~DeviceRoute() override {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  const RouteDescription& description() const override { return description_; }
  bool Takes(const DecodeRequest&) const override { return true; }
  void Start(const DecodeRequest& request, CallerThread&, OnRouteAnswer on_answer) override {
    {
      const std::lock_guard lock(mutex_);
      work_.push_back([this, &request, on_answer = std::move(on_answer)] {
        if (--left_ < 0) return on_answer({RouteVerdict::kLost, Status()});
        if (NumberOf(request) % 5 == 0) return on_answer({RouteVerdict::kRefused, Status()});
        on_answer(Decoded(request));
      });
    }
    changed_.notify_one();
  }

 private:
  void Loop() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return ended_ || !work_.empty(); });
      if (work_.empty()) return;
      const auto work = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      work();
      lock.lock();
    }
  }

  const RouteDescription description_;
  std::atomic<int> left_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  bool ended_ = false;
  std::thread thread_;
};

TEST(WaitingThread, ManyThreadsGetTheirOwnImagesFromRefusingAndDyingDevices) {
  std::vector<std::unique_ptr<DecodeRoute>> routes;
  routes.push_back(std::make_unique<DeviceRoute>("steady", 1 << 30));
  routes.push_back(std::make_unique<DeviceRoute>("dying", 200));
  routes.push_back(std::make_unique<CoreRoute>());
  DecodeRouter router(std::move(routes));
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  constexpr int kThreads = 8;
  constexpr int kImages = 400;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kImages; ++i) {
        const int number = 1 + thread * kImages + i;
        const auto decoded = router.Decode(PictureOf(number, 100, 100, 1000, i % 3 == 0));
        if (decoded.ok() && decoded->source_width == number) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, kThreads * kImages);
  const auto stats = router.stats();
  EXPECT_TRUE(stats[1].lost);
  EXPECT_EQ(stats[0].decoded + stats[1].decoded + stats[2].decoded,
            static_cast<uint64_t>(kThreads * kImages));
}

TEST(WaitingThread, LooksAgainWhileItWaits) {
  WaitingThread waiting;
  int idle = 0;
  const auto decoded = waiting.Wait(0.5, [&] {
    if (++idle == 3) waiting.Run([&] { waiting.Set(DecodedImage{{}, 7, 0, 1}); });
  });
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->source_width, 7);
  EXPECT_EQ(idle, 3);
}

TEST(WaitingThread, CalibrationReplacesTheGuess) {
  // Each look at the clock is a millisecond later, so every image seems to take one.
  double now = 0;
  std::vector<std::unique_ptr<DecodeRoute>> routes;
  routes.push_back(std::make_unique<CoreRoute>());
  DecodeRouter router(std::move(routes), [&now] { return now += 1; });
  const DecodeRequest pictures[] = {PictureOf(1, 1000, 1000, 150'000),
                                    PictureOf(2, 2000, 1000, 300'000)};
  EXPECT_GT(router.stats()[0].megapixel_ms, 2);
  router.Calibrate(pictures);
  EXPECT_NEAR(router.stats()[0].megapixel_ms, 1, 0.05);
}

}  // namespace
}  // namespace lattice::test
