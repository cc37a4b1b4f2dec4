#include "native/gpu_monitor/gpu_monitor.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "native/base/stopwatch.h"
#include "test/native/gpu_monitor/stub_nvml.h"

namespace lattice {
namespace {

using std::chrono::milliseconds;

GpuIdentity IdentityOf(size_t stub_gpu) {
  GpuIdentity identity;
  identity.name = "Simulated " + std::to_string(stub_gpu);
  identity.uuid = "GPU-" + std::to_string(stub_gpu);
  identity.bus_id = kStubBusIds.at(stub_gpu);
  identity.numa_node = static_cast<int>(stub_gpu);
  identity.memory_bytes = uint64_t{79} << 30;
  return identity;
}

bool Within(milliseconds limit, const std::function<bool()>& holds) {
  const auto end = Clock::now() + limit;
  while (!holds()) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return true;
}

class GpuMonitorTest : public testing::Test {
 protected:
  void SetUp() override { ResetStub(stub_); }

  // No thread may stay in the library, whatever a test left behind.
  void TearDown() override {
    stub_->hangs = false;
    EXPECT_TRUE(Within(milliseconds(2'000), [this] { return stub_->hanging == 0; }));
  }

  void Start(size_t stub_gpu = 0, const std::string& library = STUB_NVML) {
    GpuMonitorOptions options;
    options.identify = [stub_gpu] { return IdentityOf(stub_gpu); };
    options.interval = milliseconds(5);
    options.overdue = milliseconds(60);
    options.library = library;
    monitor_ = std::make_unique<GpuMonitor>(std::move(options));
  }

  testing::AssertionResult Soon(const std::function<bool(const GpuReading&)>& holds) {
    const auto now = [&] {
      const auto reading = monitor_->Latest();
      return reading.ok() && holds(*reading);
    };
    if (Within(milliseconds(5'000), now)) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "still not so after 5 s";
  }

  testing::AssertionResult SoonHasFigures() {
    return Soon(
        [](const GpuReading& now) { return now.figures.memory_used && now.reason.empty(); });
  }

  StubNvml* const stub_ = OpenStub(STUB_NVML);
  std::unique_ptr<GpuMonitor> monitor_;
};

TEST_F(GpuMonitorTest, WithoutAGpuItSaysWhy) {
  GpuMonitorOptions options;
  options.identify = [] { return Status(StatusCode::kGpuUnavailable, "There is no GPU."); };
  monitor_ = std::make_unique<GpuMonitor>(options);
  EXPECT_FALSE(monitor_->Latest().ok());  // from the first moment on
  EXPECT_TRUE(Within(milliseconds(5'000), [this] {
    return monitor_->Latest().status().message() == "There is no GPU.";
  }));
  EXPECT_EQ(stub_->inits, 0);
}

// CUDA and the library number the GPUs differently.
TEST_F(GpuMonitorTest, FiguresBelongToTheGpuOnTheSameBus) {
  Start(2);
  ASSERT_TRUE(SoonHasFigures());
  const auto reading = *monitor_->Latest();
  EXPECT_EQ(reading.identity.name, "Simulated 2");
  EXPECT_EQ(reading.figures.temperature, 42);
  EXPECT_LT(reading.age_ms.value_or(1e9), 5'000);
  EXPECT_EQ(stub_->gpus[0].asked, 0);
  EXPECT_EQ(stub_->gpus[1].asked, 0);
}

TEST_F(GpuMonitorTest, FiguresFollowTheGpu) {
  Start();
  ASSERT_TRUE(SoonHasFigures());
  stub_->gpus[0].used_mib = 40'000;
  EXPECT_TRUE(Soon(
      [](const GpuReading& now) { return now.figures.memory_used == uint64_t{40'000} << 20; }));
  EXPECT_EQ(stub_->inits, 1);
}

TEST_F(GpuMonitorTest, ADriverThatHangsHoldsNobodyUp) {
  Start(1);
  ASSERT_TRUE(SoonHasFigures());
  stub_->hangs = true;
  ASSERT_TRUE(Within(milliseconds(5'000), [this] { return stub_->hanging > 0; }));
  double age = 0;
  for (int i = 0; i < 20; ++i) {
    Stopwatch watch;
    const auto reading = *monitor_->Latest();
    EXPECT_LT(watch.Lap(), 2'000);
    EXPECT_EQ(reading.figures.temperature, 41);
    EXPECT_GT(reading.age_ms.value_or(0), age);
    age = *reading.age_ms;
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_TRUE(Soon([](const GpuReading& now) {
    return now.reason.starts_with("The driver has not answered for ") &&
           now.figures.memory_used.has_value();
  }));
  stub_->hangs = false;
  EXPECT_TRUE(SoonHasFigures());
}

TEST_F(GpuMonitorTest, ADriverThatHangsFromTheFirstMomentIsNamed) {
  stub_->hangs = true;
  Start();
  EXPECT_TRUE(Soon([](const GpuReading& now) {
    return now.reason.starts_with("The driver has not answered") && !now.age_ms &&
           now.figures.memory_total == uint64_t{79} << 30;
  }));
}

TEST_F(GpuMonitorTest, AMonitorEndsThoughTheDriverHangs) {
  Start();
  ASSERT_TRUE(SoonHasFigures());
  stub_->hangs = true;
  ASSERT_TRUE(Within(milliseconds(5'000), [this] { return stub_->hanging > 0; }));
  Stopwatch watch;
  monitor_.reset();
  EXPECT_LT(watch.Lap(), 2'000);
}

TEST_F(GpuMonitorTest, AMonitorThatEndsTellsTheLibrary) {
  Start();
  ASSERT_TRUE(SoonHasFigures());
  monitor_.reset();
  EXPECT_EQ(stub_->shutdowns, 1);
}

TEST_F(GpuMonitorTest, ALostGpuHasNoFiguresUntilItIsReset) {
  Start();
  ASSERT_TRUE(SoonHasFigures());
  for (auto& code : stub_->gpus[0].codes) code = kStubGpuIsLost;
  stub_->gpus[0].find_code = kStubGpuIsLost;
  EXPECT_TRUE(Soon([](const GpuReading& now) {
    return now.reason == "The GPU is lost: GPU is lost." && !now.figures.temperature;
  }));
  for (auto& code : stub_->gpus[0].codes) code = 0;
  stub_->gpus[0].find_code = 0;
  EXPECT_TRUE(SoonHasFigures());
}

TEST_F(GpuMonitorTest, WithoutTheLibraryTheGpuIsNamedAllTheSame) {
  Start(0, "/nowhere/libnvidia-ml.so.1");
  EXPECT_TRUE(Soon([](const GpuReading& now) {
    return now.reason.starts_with("GPU figures are unknown") && now.identity.numa_node == 0 &&
           !now.age_ms;
  }));
}

TEST_F(GpuMonitorTest, ThreadsMayAskAtTheSameTime) {
  Start(2);
  ASSERT_TRUE(SoonHasFigures());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      for (int round = 0; round < 500; ++round) {
        EXPECT_EQ(monitor_->Latest()->figures.temperature, 42);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace lattice
