// The base of tests that need a GPU: where there is none, they are skipped and say why.
#ifndef LATTICE_TEST_GPU_CUDA_GPU_TEST_H_
#define LATTICE_TEST_GPU_CUDA_GPU_TEST_H_

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "native/gpu/cuda/cuda_status.h"
#include "native/gpu/cuda/gpu_device.h"
#include "native/gpu/cuda/owners.h"

namespace lattice {

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    const Result<std::vector<GpuDevice>> gpus = ListGpus();
    if (!gpus.ok()) GTEST_SKIP() << gpus.status().message();
    if (!gpus->front().unusable.empty()) GTEST_SKIP() << gpus->front().unusable;
    ASSERT_TRUE(UseGpu(gpus->front().index).ok());
    Result<Stream> stream = Stream::Create(Stream::Priority::kHigh);
    ASSERT_TRUE(stream.ok()) << stream.status().message();
    stream_ = *std::move(stream);
  }

  const Stream& stream() const { return stream_; }

  // GPU memory with a copy of `values`, there when this returns.
  template <typename T>
  DeviceBuffer Uploaded(const std::vector<T>& values) {
    DeviceBuffer buffer = Allocated(values.size() * sizeof(T));
    Upload(values, buffer);
    return buffer;
  }

  // In the tests' stream: cudaMemcpy may return before the bytes are there, and no kernel of a
  // stream that does not wait for the default one would wait for them.
  template <typename T>
  void Upload(const std::vector<T>& values, const DeviceBuffer& buffer) {
    EXPECT_EQ(cudaMemcpyAsync(buffer.data(), values.data(), values.size() * sizeof(T),
                              cudaMemcpyHostToDevice, stream_.get()),
              cudaSuccess);
    EXPECT_TRUE(stream_.Synchronize().ok());
  }

  DeviceBuffer Allocated(size_t bytes) {
    Result<DeviceBuffer> buffer = DeviceBuffer::Allocate(bytes);
    EXPECT_TRUE(buffer.ok()) << buffer.status().message();
    return buffer.ok() ? *std::move(buffer) : DeviceBuffer();
  }

  // Waits for the stream first.
  template <typename T>
  std::vector<T> Downloaded(const DeviceBuffer& buffer) {
    EXPECT_TRUE(stream_.Synchronize().ok());
    std::vector<T> values(buffer.size() / sizeof(T));
    EXPECT_EQ(cudaMemcpy(values.data(), buffer.data(), buffer.size(), cudaMemcpyDeviceToHost),
              cudaSuccess);
    return values;
  }

 private:
  Stream stream_;
};

}  // namespace lattice

#endif  // LATTICE_TEST_GPU_CUDA_GPU_TEST_H_
