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

GpuIdentity PlaceOf(int index, size_t stub_gpu) {
  GpuIdentity identity;
  identity.index = index;
  identity.name = "Simulated " + std::to_string(index);
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

  void Start(std::vector<GpuIdentity> identities, const std::string& library = STUB_NVML) {
    GpuMonitorOptions options;
    options.identify = [identities] { return identities; };
    options.interval = milliseconds(5);
    options.overdue = milliseconds(60);
    options.library = library;
    monitor_ = std::make_unique<GpuMonitor>(std::move(options));
  }

  testing::AssertionResult Soon(const std::function<bool(const GpuReadings&)>& holds) {
    if (Within(milliseconds(5'000), [&] { return holds(monitor_->Latest()); })) {
      return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << "still not so after 5 s";
  }

  testing::AssertionResult SoonHasFigures() {
    return Soon([](const GpuReadings& readings) {
      if (readings.gpus.empty()) return false;
      for (const GpuReading& gpu : readings.gpus) {
        if (!gpu.figures.memory_used || !gpu.reason.empty()) return false;
      }
      return true;
    });
  }

  StubNvml* const stub_ = OpenStub(STUB_NVML);
  std::unique_ptr<GpuMonitor> monitor_;
};

TEST_F(GpuMonitorTest, WithoutGpusItSaysWhy) {
  GpuMonitorOptions options;
  options.identify = [] { return Status(StatusCode::kGpuUnavailable, "There is no GPU."); };
  monitor_ = std::make_unique<GpuMonitor>(options);
  EXPECT_FALSE(monitor_->Latest().missing.empty());  // from the first moment on
  EXPECT_TRUE(Soon([](const GpuReadings& now) { return now.missing == "There is no GPU."; }));
  EXPECT_TRUE(monitor_->Latest().gpus.empty());
  EXPECT_EQ(stub_->inits, 0);
}

// CUDA counts the fastest first and shows some only.
TEST_F(GpuMonitorTest, FiguresBelongToTheGpuOnTheSameBus) {
  Start({PlaceOf(0, 2), PlaceOf(1, 0)});
  ASSERT_TRUE(SoonHasFigures());
  const GpuReadings readings = monitor_->Latest();
  EXPECT_EQ(readings.missing, "");
  ASSERT_EQ(readings.gpus.size(), 2u);
  EXPECT_EQ(readings.gpus[0].identity.name, "Simulated 0");
  EXPECT_EQ(readings.gpus[0].figures.temperature, 42);
  EXPECT_EQ(readings.gpus[1].figures.temperature, 40);
  EXPECT_LT(readings.gpus[0].age_ms.value_or(1e9), 5'000);
  EXPECT_EQ(stub_->gpus[1].asked, 0);
}

TEST_F(GpuMonitorTest, FiguresFollowTheGpu) {
  Start({PlaceOf(0, 0)});
  ASSERT_TRUE(SoonHasFigures());
  stub_->gpus[0].used_mib = 40'000;
  EXPECT_TRUE(Soon([](const GpuReadings& now) {
    return now.gpus[0].figures.memory_used == uint64_t{40'000} << 20;
  }));
  EXPECT_EQ(stub_->inits, 1);
}

TEST_F(GpuMonitorTest, ADriverThatHangsHoldsNobodyUp) {
  Start({PlaceOf(0, 0), PlaceOf(1, 1)});
  ASSERT_TRUE(SoonHasFigures());
  stub_->hangs = true;
  ASSERT_TRUE(Within(milliseconds(5'000), [this] { return stub_->hanging > 0; }));
  double age = 0;
  for (int i = 0; i < 20; ++i) {
    Stopwatch watch;
    const GpuReadings readings = monitor_->Latest();
    EXPECT_LT(watch.Lap(), 2'000);
    EXPECT_EQ(readings.gpus[1].figures.temperature, 41);
    EXPECT_GT(readings.gpus[1].age_ms.value_or(0), age);
    age = *readings.gpus[1].age_ms;
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_TRUE(Soon([](const GpuReadings& now) {
    return now.gpus[0].reason.starts_with("The driver has not answered for ") &&
           now.gpus[1].reason == now.gpus[0].reason && now.gpus[0].figures.memory_used.has_value();
  }));
  stub_->hangs = false;
  EXPECT_TRUE(SoonHasFigures());
}

TEST_F(GpuMonitorTest, ADriverThatHangsFromTheFirstMomentIsNamed) {
  stub_->hangs = true;
  Start({PlaceOf(0, 0)});
  EXPECT_TRUE(Soon([](const GpuReadings& now) {
    return !now.gpus.empty() && now.gpus[0].reason.starts_with("The driver has not answered") &&
           !now.gpus[0].age_ms && now.gpus[0].figures.memory_total == uint64_t{79} << 30;
  }));
}

TEST_F(GpuMonitorTest, AMonitorEndsThoughTheDriverHangs) {
  Start({PlaceOf(0, 0)});
  ASSERT_TRUE(SoonHasFigures());
  stub_->hangs = true;
  ASSERT_TRUE(Within(milliseconds(5'000), [this] { return stub_->hanging > 0; }));
  Stopwatch watch;
  monitor_.reset();
  EXPECT_LT(watch.Lap(), 2'000);
}

TEST_F(GpuMonitorTest, AMonitorThatEndsTellsTheLibrary) {
  Start({PlaceOf(0, 0)});
  ASSERT_TRUE(SoonHasFigures());
  monitor_.reset();
  EXPECT_EQ(stub_->shutdowns, 1);
}

TEST_F(GpuMonitorTest, ALostGpuHasNoFiguresAndTheOthersKeepTheirs) {
  Start({PlaceOf(0, 0), PlaceOf(1, 1)});
  ASSERT_TRUE(SoonHasFigures());
  for (auto& code : stub_->gpus[0].codes) code = kStubGpuIsLost;
  stub_->gpus[0].find_code = kStubGpuIsLost;
  EXPECT_TRUE(Soon([](const GpuReadings& now) {
    return now.gpus[0].reason == "The GPU is lost: GPU is lost." &&
           !now.gpus[0].figures.temperature;
  }));
  EXPECT_EQ(monitor_->Latest().gpus[1].figures.temperature, 41);
  EXPECT_EQ(monitor_->Latest().gpus[1].reason, "");
  // It was reset.
  for (auto& code : stub_->gpus[0].codes) code = 0;
  stub_->gpus[0].find_code = 0;
  EXPECT_TRUE(SoonHasFigures());
}

TEST_F(GpuMonitorTest, WithoutTheLibraryGpusAreNamedAllTheSame) {
  Start({PlaceOf(0, 0)}, "/nowhere/libnvidia-ml.so.1");
  EXPECT_TRUE(Soon([](const GpuReadings& now) {
    return now.gpus.size() == 1 && now.gpus[0].reason.starts_with("GPU figures are unknown") &&
           now.gpus[0].identity.numa_node == 0 && !now.gpus[0].age_ms;
  }));
  EXPECT_EQ(monitor_->Latest().missing, "");
}

TEST_F(GpuMonitorTest, ManyMayAskAtOnce) {
  Start({PlaceOf(0, 0), PlaceOf(1, 1), PlaceOf(2, 2)});
  ASSERT_TRUE(SoonHasFigures());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      for (int round = 0; round < 500; ++round) {
        const GpuReadings readings = monitor_->Latest();
        ASSERT_EQ(readings.gpus.size(), 3u);
        EXPECT_EQ(readings.gpus[2].figures.temperature, 42);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace lattice
