#include "bench/native/gpu_stopwatch.h"

#include "test/native/gpu/cuda/gpu_test.h"

namespace lattice {
namespace {

class GpuStopwatchTest : public GpuTest {};

TEST_F(GpuStopwatchTest, LargerCopiesTakeLonger) {
  const DeviceBuffer from = Allocated(size_t{256} << 20);
  const DeviceBuffer to = Allocated(size_t{256} << 20);
  GpuStopwatch watch(stream());
  ASSERT_TRUE(watch.Prepare().ok());
  std::vector<double> ms;
  for (int round = 0; round < 2; ++round) {  // the first one warms up
    ms.clear();
    for (const size_t bytes : {size_t{1} << 10, from.size()}) {
      const auto copy = [&] {
        return ToStatus(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice,
                                        stream().get()),
                        "copying");
      };
      ASSERT_TRUE(watch.Time(copy, &ms).ok());
    }
  }
  ASSERT_EQ(ms.size(), 2u);
  EXPECT_GT(ms[0], 0);
  EXPECT_GT(ms[1], ms[0]);
}

TEST_F(GpuStopwatchTest, FailsAsTheWorkDoes) {
  GpuStopwatch watch(stream());
  ASSERT_TRUE(watch.Prepare().ok());
  std::vector<double> ms;
  const Status failed =
      watch.Time([] { return Status(StatusCode::kDetectionFailed, "It broke."); }, &ms);
  EXPECT_EQ(failed.message(), "It broke.");
  EXPECT_TRUE(ms.empty());
}

}  // namespace
}  // namespace lattice
