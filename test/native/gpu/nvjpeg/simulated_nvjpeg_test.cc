// The simulated nvJPEG is strict where NVIDIA's is, or may be.
#include <gtest/gtest.h>
#include <turbojpeg.h>

#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "native/gpu/cuda/gpu_device.h"
#include "native/gpu/cuda/owners.h"
#include "native/gpu/jpeg/plane_pool.h"
#include "native/gpu/nvjpeg/nvjpeg_engines.h"
#include "test/native/gpu/nvjpeg/planes.h"
#include "test/native/letterbox/jpeg_samples.h"
#include "test/native/simulated_cuda/simulated_gpus.h"

namespace lattice::test {
namespace {

class SimulatedNvJpegTest : public testing::Test {
 protected:
  static constexpr int kWidth = 64;
  static constexpr int kHeight = 48;

  void SetUp() override {
    ASSERT_TRUE(InitDecoders().ok());
    simulated::PlugIn({{}});
    ASSERT_TRUE(UseGpu(0).ok());
    const auto library = NvJpegLibrary::Open();
    ASSERT_TRUE(library.ok()) << library.status().message();
    nvjpeg_ = &(*library)->functions();
    ASSERT_EQ(nvjpeg_->CreateEx(NVJPEG_BACKEND_HARDWARE, nullptr, nullptr, 0, &handle_), 0);
    ASSERT_EQ(nvjpeg_->JpegStateCreate(handle_, &state_), 0);
    ASSERT_EQ(Prepare(), NVJPEG_STATUS_SUCCESS);
    stream_ = *Stream::Create(Stream::Priority::kLow);
    event_ = *Event::Create(Event::WaitMode::kBlock);
    memory_ = *DeviceBuffer::Allocate(kWidth * kHeight * 3 / 2);
    file_ = Noise(0);
    pinned_ = *PinnedBuffer::Allocate(file_.size());
    std::memcpy(pinned_.data(), file_.data(), file_.size());
    for (size_t i = 0; i < 3; ++i) {
      constexpr size_t kLuma = kWidth * kHeight;
      const size_t at[] = {0, kLuma, kLuma + kLuma / 4};
      target_.channel[i] = memory_.As<uint8_t>() + at[i];
      target_.pitch[i] = i == 0 ? kWidth : kWidth / 2;
    }
  }

  void TearDown() override {
    nvjpeg_->JpegStateDestroy(state_);
    nvjpeg_->Destroy(handle_);
  }

  static File Noise(int flags) {
    std::mt19937 random(1);
    return NoiseJpeg(kWidth, kHeight, TJSAMP_420, flags, random);
  }

  nvjpegStatus_t Prepare() {
    return nvjpeg_->DecodeBatchedInitialize(handle_, state_, 1, 1, NVJPEG_OUTPUT_YUV);
  }

  nvjpegStatus_t Queue(const uint8_t* file, size_t size) {
    return nvjpeg_->DecodeBatched(handle_, state_, &file, &size, &target_, stream_.get());
  }
  nvjpegStatus_t Queue() { return Queue(pinned_.As<uint8_t>(), file_.size()); }

  File Written() const {
    File planes(memory_.size());
    std::memcpy(planes.data(), memory_.data(), planes.size());
    return planes;
  }

  const NvJpegFunctions* nvjpeg_ = nullptr;
  nvjpegHandle_t handle_ = nullptr;
  nvjpegJpegState_t state_ = nullptr;
  Stream stream_;
  Event event_;
  DeviceBuffer memory_;
  PinnedBuffer pinned_;
  File file_;
  nvjpegImage_t target_{};
};

TEST_F(SimulatedNvJpegTest, ADecodeIsWorkOfItsStream) {
  const File before = Written();
  simulated::Hang(0);
  ASSERT_EQ(Queue(), NVJPEG_STATUS_SUCCESS);
  ASSERT_TRUE(event_.Record(stream_).ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(cudaEventQuery(event_.get()), cudaErrorNotReady);
  (void)cudaGetLastError();
  EXPECT_EQ(Written(), before);
  simulated::Release(0);
  ASSERT_TRUE(event_.Wait().ok());
  const auto expected = Decode(file_, {}, std::pmr::get_default_resource(), PixelLayout::kYuv420);
  const File planes = PlanesOf(*expected);
  const File written = Written();
  for (size_t i = 0; i < planes.size(); ++i) ASSERT_NEAR(written[i], planes[i], 1);
}

TEST_F(SimulatedNvJpegTest, PlanesThatAreNotOnTheGpuAreRefused) {
  target_.channel[2] += 1;
  EXPECT_EQ(Queue(), NVJPEG_STATUS_INVALID_PARAMETER);
  ASSERT_EQ(Prepare(), NVJPEG_STATUS_SUCCESS);
  target_.channel[2] -= 1;
  target_.pitch[0] = kWidth - 1;
  EXPECT_EQ(Queue(), NVJPEG_STATUS_INVALID_PARAMETER);
}

TEST_F(SimulatedNvJpegTest, AFileThatIsGoneBeforeItsTurnFaultsTheGpu) {
  simulated::Hang(0);
  ASSERT_EQ(Queue(), NVJPEG_STATUS_SUCCESS);
  pinned_ = {};
  simulated::Release(0);
  EXPECT_EQ(stream_.Synchronize().code(), StatusCode::kGpuLost);
}

TEST_F(SimulatedNvJpegTest, ABatchThatFailedIsPreparedAnew) {
  const File progressive = Noise(TJFLAG_PROGRESSIVE);
  EXPECT_EQ(Queue(progressive.data(), progressive.size()), NVJPEG_STATUS_JPEG_NOT_SUPPORTED);
  EXPECT_EQ(Queue(), NVJPEG_STATUS_INVALID_PARAMETER);
  ASSERT_EQ(Prepare(), NVJPEG_STATUS_SUCCESS);
  EXPECT_EQ(Queue(), NVJPEG_STATUS_SUCCESS);
  EXPECT_TRUE(stream_.Synchronize().ok());
}

// Freeing what is too small would wait for the network.
TEST_F(SimulatedNvJpegTest, JpegEnginesMakeNoMemoryForAPictureOfUsualSize) {
  const auto library = *NvJpegLibrary::Open();
  const auto engines = *NvJpegEngines::Open(*library, 0);
  std::mt19937 random(2);
  const File file = NoiseJpeg(1280, 720, TJSAMP_420, 0, random);
  const PlaneLayout layout = LayOutPlanes(1280, 720);
  const DeviceBuffer planes = *DeviceBuffer::Allocate(layout.bytes);
  EngineJpeg image{file, {}, layout.pitches};
  for (size_t i = 0; i < 3; ++i) {
    image.planes[i] = planes.As<uint8_t>() + layout.offsets[i];
  }
  const size_t used = simulated::UsedBytes(0);
  simulated::FailCall(simulated::Call::kMalloc, cudaErrorMemoryAllocation);
  EXPECT_TRUE(engines->DecodeBatch(0, {&image, 1}).ok());
  EXPECT_EQ(simulated::UsedBytes(0), used);
  EXPECT_FALSE(DeviceBuffer::Allocate(1).ok()) << "no memory was allocated before";
}

}  // namespace
}  // namespace lattice::test
