// The monitor on GPUs that are played on the host. In builds with LATTICE_SIMULATED_GPU only.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "native/base/stopwatch.h"
#include "native/cuda/gpu_device.h"
#include "native/cuda/owners.h"
#include "native/gpu_monitor/gpu_monitor.h"
#include "test/native/simulated_cuda/simulated_gpus.h"

namespace lattice {
namespace {

class SimulatedNvmlTest : public testing::Test {
 protected:
  void SetUp() override {
    simulated::PlugIn({{"First", 9, 0, size_t{8} << 30}, {"Second"}});
    GpuMonitorOptions options;
    options.identify = []() -> Result<std::vector<GpuIdentity>> {
      const auto gpus = ListGpus();
      if (!gpus.ok()) return gpus.status();
      std::vector<GpuIdentity> identities;
      for (const GpuDevice& gpu : *gpus) {
        identities.push_back({gpu.index, gpu.name, gpu.uuid, gpu.bus_id, -1, gpu.memory_bytes});
      }
      return identities;
    };
    options.interval = std::chrono::milliseconds(5);
    monitor_ = std::make_unique<GpuMonitor>(std::move(options));
  }

  using Holds = std::function<bool(const std::vector<GpuReading>&)>;
  testing::AssertionResult Soon(const Holds& holds) {
    const auto end = Clock::now() + std::chrono::seconds(5);
    while (Clock::now() < end) {
      const GpuReadings now = monitor_->Latest();
      if (now.gpus.size() == 2 && now.gpus[0].age_ms && now.gpus[1].age_ms && holds(now.gpus)) {
        return testing::AssertionSuccess();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return testing::AssertionFailure() << "still not so after 5 s";
  }

  std::unique_ptr<GpuMonitor> monitor_;
};

TEST_F(SimulatedNvmlTest, MemoryIsWhatTheGpuHasGivenOut) {
  EXPECT_TRUE(Soon([](const auto& gpus) {
    return gpus[0].figures.memory_total == uint64_t{8} << 30 &&
           gpus[1].figures.memory_total == uint64_t{16} << 30 &&
           gpus[0].figures.memory_used == 0u && gpus[0].reason.empty() && gpus[1].reason.empty();
  }));
  ASSERT_TRUE(UseGpu(1).ok());
  auto memory = DeviceBuffer::Allocate(100'000);
  ASSERT_TRUE(memory.ok());
  EXPECT_TRUE(Soon([](const auto& gpus) { return gpus[1].figures.memory_used == 100'000u; }));
  EXPECT_EQ(monitor_->Latest().gpus[0].figures.memory_used, 0u);
  *memory = {};
  EXPECT_TRUE(Soon([](const auto& gpus) { return gpus[1].figures.memory_used == 0u; }));
}

TEST_F(SimulatedNvmlTest, UtilisationIsTheTimeInWhichAStreamHasWork) {
  EXPECT_TRUE(Soon([](const auto& gpus) { return gpus[0].figures.utilisation == 0; }));
  ASSERT_TRUE(UseGpu(0).ok());
  const auto stream = Stream::Create(Stream::Priority::kLow);
  ASSERT_TRUE(stream.ok());
  simulated::Hang(0);
  ASSERT_EQ(simulated::Queue(stream->get(), [] { return cudaSuccess; }), cudaSuccess);
  EXPECT_TRUE(Soon([](const auto& gpus) { return gpus[0].figures.utilisation == 100; }));
  const GpuReadings busy = monitor_->Latest();
  EXPECT_EQ(busy.gpus[1].figures.utilisation, 0);
  EXPECT_GT(busy.gpus[0].figures.temperature, busy.gpus[1].figures.temperature);
  EXPECT_GT(busy.gpus[0].figures.power, busy.gpus[1].figures.power);
  EXPECT_LE(busy.gpus[0].figures.power, busy.gpus[0].figures.power_limit);
  EXPECT_GT(busy.gpus[0].figures.sm_clock, busy.gpus[1].figures.sm_clock);
  EXPECT_TRUE(busy.gpus[1].figures.slowed_by.empty()) << "idle is no slowdown";
  simulated::Release(0);
  EXPECT_TRUE(Soon([](const auto& gpus) { return gpus[0].figures.utilisation == 0; }));
}

TEST_F(SimulatedNvmlTest, MemoryErrorsAreCounted) {
  ASSERT_TRUE(UseGpu(1).ok());
  const auto stream = Stream::Create(Stream::Priority::kLow);
  ASSERT_TRUE(stream.ok());
  simulated::FaultWork(1, cudaErrorECCUncorrectable);
  ASSERT_EQ(simulated::Queue(stream->get(), [] { return cudaSuccess; }), cudaSuccess);
  EXPECT_TRUE(Soon([](const auto& gpus) {
    return gpus[0].figures.uncorrected_errors == 0u && gpus[1].figures.uncorrected_errors == 1u;
  }));
}

TEST_F(SimulatedNvmlTest, AGpuThatIsTakenOutIsLost) {
  EXPECT_TRUE(Soon([](const auto& gpus) { return gpus[1].figures.temperature.has_value(); }));
  simulated::PlugIn({{}});
  EXPECT_TRUE(Soon([](const auto& gpus) {
    return gpus[1].reason.find("The GPU") != std::string::npos && gpus[0].reason.empty();
  })) << monitor_->Latest().gpus[1].reason;
}

}  // namespace
}  // namespace lattice
