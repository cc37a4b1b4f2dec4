// The monitor on GPUs that are simulated on the host. In builds with LATTICE_SIMULATED_GPU only.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "native/base/stopwatch.h"
#include "native/gpu/cuda/gpu_device.h"
#include "native/gpu/cuda/owners.h"
#include "native/gpu_monitor/gpu_monitor.h"
#include "test/native/simulated_cuda/simulated_gpus.h"

namespace lattice {
namespace {

// Of two GPUs, the second.
class SimulatedNvmlTest : public testing::Test {
 protected:
  void SetUp() override {
    simulated::PlugIn({{"First"}, {"Second", 9, 0, size_t{8} << 30}});
    ASSERT_TRUE(UseGpu(1).ok());
    GpuMonitorOptions options;
    options.identify = []() -> Result<GpuIdentity> {
      const auto gpus = ListGpus();
      if (!gpus.ok()) return gpus.status();
      const GpuDevice& gpu = gpus->at(1);
      return GpuIdentity{gpu.index, gpu.name, gpu.uuid, gpu.bus_id, -1, gpu.memory_bytes};
    };
    options.interval = std::chrono::milliseconds(5);
    monitor_ = std::make_unique<GpuMonitor>(std::move(options));
  }

  testing::AssertionResult Soon(const std::function<bool(const GpuReading&)>& holds) {
    const auto end = Clock::now() + std::chrono::seconds(5);
    while (Clock::now() < end) {
      const auto now = monitor_->Latest();
      if (now.ok() && now->age_ms && holds(*now)) return testing::AssertionSuccess();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return testing::AssertionFailure() << "still not so after 5 s";
  }

  std::unique_ptr<GpuMonitor> monitor_;
};

TEST_F(SimulatedNvmlTest, MemoryIsWhatTheGpuHasGivenOut) {
  EXPECT_TRUE(Soon([](const GpuReading& gpu) {
    return gpu.figures.memory_total == uint64_t{8} << 30 && gpu.figures.memory_used == 0u &&
           gpu.reason.empty();
  }));
  auto memory = DeviceBuffer::Allocate(100'000);
  ASSERT_TRUE(memory.ok());
  EXPECT_TRUE(Soon([](const GpuReading& gpu) { return gpu.figures.memory_used == 100'000u; }));
  *memory = {};
  EXPECT_TRUE(Soon([](const GpuReading& gpu) { return gpu.figures.memory_used == 0u; }));
}

TEST_F(SimulatedNvmlTest, UtilisationIsTheTimeInWhichAStreamHasWork) {
  EXPECT_TRUE(Soon([](const GpuReading& gpu) { return gpu.figures.utilisation == 0; }));
  const GpuFigures idle = monitor_->Latest()->figures;
  EXPECT_TRUE(idle.slowed_by.empty()) << "idle is no slowdown";
  const auto stream = Stream::Create(Stream::Priority::kLow);
  ASSERT_TRUE(stream.ok());
  simulated::Hang(1);
  ASSERT_EQ(simulated::Queue(stream->get(), [] { return cudaSuccess; }), cudaSuccess);
  EXPECT_TRUE(Soon([](const GpuReading& gpu) { return gpu.figures.utilisation == 100; }));
  const GpuFigures busy = monitor_->Latest()->figures;
  EXPECT_GT(busy.temperature, idle.temperature);
  EXPECT_GT(busy.power, idle.power);
  EXPECT_LE(busy.power, busy.power_limit);
  EXPECT_GT(busy.sm_clock, idle.sm_clock);
  simulated::Release(1);
  EXPECT_TRUE(Soon([](const GpuReading& gpu) { return gpu.figures.utilisation == 0; }));
}

TEST_F(SimulatedNvmlTest, MemoryErrorsAreCounted) {
  EXPECT_TRUE(Soon([](const GpuReading& gpu) { return gpu.figures.uncorrected_errors == 0u; }));
  const auto stream = Stream::Create(Stream::Priority::kLow);
  ASSERT_TRUE(stream.ok());
  simulated::FaultWork(1, cudaErrorECCUncorrectable);
  ASSERT_EQ(simulated::Queue(stream->get(), [] { return cudaSuccess; }), cudaSuccess);
  EXPECT_TRUE(Soon([](const GpuReading& gpu) { return gpu.figures.uncorrected_errors == 1u; }));
}

TEST_F(SimulatedNvmlTest, AGpuThatIsTakenOutIsLost) {
  EXPECT_TRUE(Soon([](const GpuReading& gpu) { return gpu.figures.temperature.has_value(); }));
  simulated::PlugIn({{}});
  EXPECT_TRUE(
      Soon([](const GpuReading& gpu) { return gpu.reason.find("The GPU") != std::string::npos; }));
}

}  // namespace
}  // namespace lattice
