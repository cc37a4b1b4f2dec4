#include "native/gpu/cuda/owners.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory_resource>
#include <thread>
#include <utility>
#include <vector>

#include "native/gpu/cuda/pinned_memory.h"
#include "test/native/gpu/cuda/gpu_test.h"

namespace lattice {
namespace {

TEST(CudaMemory, IsEmptyWithoutAFactory) {
  EXPECT_EQ(DeviceBuffer().data(), nullptr);
  EXPECT_EQ(DeviceBuffer().size(), 0u);
  EXPECT_EQ(PinnedBuffer().size(), 0u);
}

using Owners = GpuTest;

TEST_F(Owners, MovingLeavesNothingBehind) {
  DeviceBuffer first = Allocated(64);
  void* const memory = first.data();
  const DeviceBuffer second = std::move(first);
  EXPECT_EQ(second.data(), memory);
  EXPECT_EQ(second.size(), 64u);
  EXPECT_EQ(first.data(), nullptr);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(first.size(), 0u);
}

TEST_F(Owners, TooLargeABufferIsAReasonAndNotAFault) {
  const Result<DeviceBuffer> buffer =
      DeviceBuffer::Allocate(std::numeric_limits<size_t>::max() / 4);
  ASSERT_FALSE(buffer.ok());
  EXPECT_NE(buffer.status().message().find("out of memory"), std::string::npos);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  EXPECT_EQ(Allocated(64).size(), 64u);
}

TEST_F(Owners, PinnedMemoryOfContainersIsPinnedOnEveryThread) {
  PinnedMemory memory;
  std::thread([&] {
    std::pmr::vector<uint8_t> bytes(1 << 20, 9, &memory);
    cudaPointerAttributes attributes{};
    ASSERT_EQ(cudaPointerGetAttributes(&attributes, bytes.data()), cudaSuccess);
    EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  }).join();
}

TEST_F(Owners, EventsAreReachedInBothModes) {
  for (const auto mode : {Event::WaitMode::kSpin, Event::WaitMode::kBlock}) {
    Result<Event> event = Event::Create(mode);
    ASSERT_TRUE(event.ok());
    EXPECT_TRUE(event->Wait().ok());
    const DeviceBuffer buffer = Allocated(1 << 20);
    ASSERT_EQ(cudaMemsetAsync(buffer.data(), 7, buffer.size(), stream().get()), cudaSuccess);
    ASSERT_TRUE(event->Record(stream()).ok());
    ASSERT_TRUE(event->Wait().ok());
  }
}

TEST_F(Owners, AGraphReplaysWhatWasRecorded) {
  Result<PinnedBuffer> source = PinnedBuffer::Allocate(256);
  ASSERT_TRUE(source.ok());
  const DeviceBuffer target = Allocated(256);
  const Result<Graph> graph = Graph::Capture(stream(), [&] {
    return ToStatus(
        cudaMemcpyAsync(target.data(), source->data(), 256, cudaMemcpyHostToDevice, stream().get()),
        "copying");
  });
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  for (const uint8_t value : {3, 200}) {
    std::memset(source->data(), value, 256);
    ASSERT_TRUE(graph->Launch(stream()).ok());
    EXPECT_EQ(Downloaded<uint8_t>(target), std::vector<uint8_t>(256, value));
  }
}

TEST_F(Owners, AFailedRecordingLeavesTheStreamUsable) {
  const Result<Graph> refused =
      Graph::Capture(stream(), [] { return Status(StatusCode::kInternalError, "not today"); });
  EXPECT_EQ(refused.status().message(), "not today");
  // Waiting cannot be recorded.
  EXPECT_FALSE(Graph::Capture(stream(), [&] { return stream().Synchronize(); }).ok());
  EXPECT_TRUE(stream().Synchronize().ok());
}

}  // namespace
}  // namespace lattice
