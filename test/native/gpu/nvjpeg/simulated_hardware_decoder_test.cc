// The hardware decoder of a simulated GPU, by a simulated nvJPEG. In builds with
// LATTICE_SIMULATED_GPU only. On a real GPU hardware_decoder_gpu_test compares the pixels.
#include <gtest/gtest.h>
#include <turbojpeg.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "native/gpu/cuda/gpu_device.h"
#include "native/gpu/gpu_engine.h"
#include "native/gpu/jpeg/image_decoder.h"
#include "native/gpu/jpeg/photo_sides.h"
#include "native/gpu/nvjpeg/nvjpeg_engines.h"
#include "test/native/gpu/nvjpeg/planes.h"
#include "test/native/letterbox/jpeg_samples.h"
#include "test/native/simulated_cuda/simulated_gpus.h"

namespace lattice::test {
namespace {

using simulated::Call;

File Noise(int width, int height, int sampling = TJSAMP_420, int flags = 0) {
  std::mt19937 random(static_cast<unsigned>(width * 10'000 + height));
  File file = NoiseJpeg(width, height, sampling, flags, random);
  EXPECT_FALSE(file.empty());
  return file;
}

// Counts what it decoded, by whom.
class CountingDecoder {
 public:
  explicit CountingDecoder(std::shared_ptr<const ImageDecoder> decoder)
      : decoder_(std::move(decoder)) {}

  Result<DecodedImage> Decode(const File& file) {
    auto image = decoder_->Decode(DescribeEncoded(file), {}, std::pmr::get_default_resource());
    if (image.ok()) ++images_[static_cast<size_t>(image->by)];
    return image;
  }
  size_t images(DecodedBy by) const { return images_[static_cast<size_t>(by)]; }

 private:
  const std::shared_ptr<const ImageDecoder> decoder_;
  std::array<std::atomic<size_t>, 4> images_ = {};
};

int LargestGap(const File& a, const File& b) {
  EXPECT_EQ(a.size(), b.size());
  int largest = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, std::abs(a[i] - b[i]));
  }
  return largest;
}

class SimulatedHardwareDecoderTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(InitDecoders().ok());
    simulated::PlugIn({{}});
    pinned_before_ = simulated::PinnedBytes();
  }

  static std::unique_ptr<CountingDecoder> Opened(int gpu = 0) {
    auto decoder = OpenJpegEngines(gpu);
    EXPECT_TRUE(decoder.ok()) << decoder.status().message();
    return std::make_unique<CountingDecoder>(*std::move(decoder));
  }

  size_t pinned_before_ = 0;  // what earlier tests left on lost GPUs
};

TEST_F(SimulatedHardwareDecoderTest, AGpuWithoutEnginesSaysWhyItHasNone) {
  simulated::GpuKind without{"Turing", 7, 5};
  without.jpeg_engines = 0;
  simulated::PlugIn({{}, without, {"Volta", 7, 0}});
  EXPECT_EQ((*NvJpegEngines::Open(**NvJpegLibrary::Open(), 0))->count(), 7);
  EXPECT_TRUE(OpenJpegEngines(0).ok());
  const Status none = OpenJpegEngines(1).status();
  EXPECT_NE(none.message().find("not available on this GPU"), std::string::npos);
  EXPECT_NE(none.message().find("GPU 1"), std::string::npos);
  EXPECT_EQ(OpenJpegEngines(2).status().message(), "GPU 2 cannot be used.");
  EXPECT_EQ(OpenJpegEngines(3).status().message(), "GPU 3 cannot be used.");
}

TEST_F(SimulatedHardwareDecoderTest, AFailureWhileItIsOpenedIsAReasonAndLeavesNothing) {
  for (const Call call : {Call::kJpegHandle, Call::kJpegState, Call::kStreamCreate}) {
    simulated::FailCall(call, cudaErrorMemoryAllocation);
    EXPECT_GT(OpenJpegEngines(0).status().message().size(), 20u);
  }
  EXPECT_EQ(simulated::UsedBytes(0), 0u);
  EXPECT_EQ(simulated::PinnedBytes(), pinned_before_);
}

// Handles are bound to a GPU, threads are not.
TEST_F(SimulatedHardwareDecoderTest, AThreadWithAnotherCurrentGpuIsServed) {
  simulated::PlugIn({{"First"}, {"Second"}});
  const File file = Noise(640, 480);
  for (const int gpu : {0, 1}) {
    auto decoder = Opened(0);
    ASSERT_TRUE(UseGpu(gpu).ok());
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(decoder->Decode(file).ok());
    EXPECT_EQ(decoder->images(DecodedBy::kHardware), 20u);
    decoder.reset();
    EXPECT_EQ(simulated::UsedBytes(0), 0u);
    EXPECT_EQ(simulated::UsedBytes(1), 0u);
  }
}

// Random sides, and photos.
TEST_F(SimulatedHardwareDecoderTest, PlanesAreTheCpusButForLastBits) {
  std::vector<File> files;
  std::mt19937 random(7);
  for (int i = 0; i < 30; ++i) {
    files.push_back(
        Noise(32 + static_cast<int>(random() % 300), 32 + static_cast<int>(random() % 300)));
  }
  for (const auto& path : JpegsBeneath(LATTICE_SOURCE_DIR "/models/demo", 2)) {
    files.push_back(BytesOf(path));
  }
  const auto decoder = Opened();
  for (const File& file : files) {
    const auto decoded = decoder->Decode(file);
    const auto expected =
        lattice::Decode(file, {}, std::pmr::get_default_resource(), PixelLayout::kYuv420);
    ASSERT_TRUE(decoded.ok() && expected.ok());
    ASSERT_EQ(decoded->on_gpu.gpu, 0);
    EXPECT_EQ(decoded->width(), expected->width);
    EXPECT_EQ(decoded->height(), expected->height);
    EXPECT_EQ(LargestGap(PlanesOf(decoded->on_gpu), PlanesOf(*expected)), 1)
        << expected->width << " x " << expected->height;
  }
  EXPECT_EQ(decoder->images(DecodedBy::kHardware), files.size());
}

TEST_F(SimulatedHardwareDecoderTest, WhatTheEnginesDoNotTakeIsTheCpus) {
  const File refused[] = {Noise(64, 48, TJSAMP_420, TJFLAG_PROGRESSIVE),
                          Noise(64, 48, TJSAMP_422),
                          Noise(64, 48, TJSAMP_444),
                          Noise(64, 48, TJSAMP_440),
                          Noise(64, 48, TJSAMP_411),
                          Noise(64, 48, TJSAMP_GRAY),
                          Noise(64, 31)};
  const auto decoder = Opened();
  for (const File& file : refused) {
    const auto decoded = decoder->Decode(file);
    ASSERT_TRUE(decoded.ok()) << decoded.status().message();
    EXPECT_FALSE(decoded->is_on_gpu());
    EXPECT_FALSE(decoded->pixels.data.empty());
  }
  EXPECT_EQ(decoder->images(DecodedBy::kCpu), std::size(refused));
  EXPECT_EQ(decoder->images(DecodedBy::kCpuAfterHardware), 0u);
}

TEST_F(SimulatedHardwareDecoderTest, WhatFailsThereIsDecodedOnTheCpu) {
  const File file = Noise(320, 240);
  for (const cudaError_t error : {cudaErrorInvalidValue, cudaErrorNotSupported,
                                  cudaErrorMemoryAllocation, cudaErrorUnknown}) {
    const auto decoder = Opened();
    simulated::FailCall(Call::kJpegDecode, error);
    for (int i = 0; i < 20; ++i) {
      const auto decoded = decoder->Decode(file);
      ASSERT_TRUE(decoded.ok()) << decoded.status().message();
    }
    EXPECT_EQ(decoder->images(DecodedBy::kCpuAfterHardware), 1u);
    EXPECT_EQ(decoder->images(DecodedBy::kHardware), 19u);
  }
}

// Only a decoder of the CPU says that a file is damaged.
TEST_F(SimulatedHardwareDecoderTest, ACutFileIsTheCpusToRefuse) {
  File file = Noise(320, 240);
  file.resize(file.size() / 2);
  const auto decoder = Opened();
  EXPECT_EQ(decoder->Decode(file).status().code(), StatusCode::kInvalidImage);
}

TEST_F(SimulatedHardwareDecoderTest, AFileThatFailsDoesNotFailItsBatch) {
  const File file = Noise(320, 240);
  const auto decoder = Opened();
  simulated::FailCall(Call::kJpegDecode, cudaErrorInvalidValue, 8);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 12; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        const auto decoded = decoder->Decode(file);
        ASSERT_TRUE(decoded.ok()) << decoded.status().message();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(decoder->images(DecodedBy::kCpuAfterHardware), 1u);
  EXPECT_GE(decoder->images(DecodedBy::kHardware), 59u);
}

TEST_F(SimulatedHardwareDecoderTest, HoldsNoMoreThanItsImagesAndLeavesNothing) {
  const File file = Noise(640, 480);
  auto decoder = Opened();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) ASSERT_TRUE(decoder->Decode(file).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  // Blocks of four images, and what the two places keep for a batch: 16 MiB for photos of usual
  // size, and the files of seven large ones.
  constexpr size_t kPixels = size_t{640} * 480;
  constexpr size_t kKept = (size_t{16} << 20) + 7 * kLargePhoto.pixels() / 4;
  EXPECT_LE(simulated::UsedBytes(0) + simulated::PinnedBytes() - pinned_before_,
            4 * 3 * kPixels + 2 * kKept);
  auto last = decoder->Decode(file);
  ASSERT_TRUE(last.ok());
  decoder.reset();
  // The image outlives its decoder.
  EXPECT_EQ(LargestGap(PlanesOf(last->on_gpu), PlanesOf(last->on_gpu)), 0);
  EXPECT_GT(simulated::UsedBytes(0), 0u);
  last = Status(StatusCode::kCancelled, "Gone.");
  EXPECT_EQ(simulated::UsedBytes(0), 0u);
  EXPECT_EQ(simulated::PinnedBytes(), pinned_before_);
}

TEST_F(SimulatedHardwareDecoderTest, WithFullMemoryTheCpuDecodes) {
  simulated::PlugIn({{"Small", 9, 0, size_t{64} << 20}});
  const File file = Noise(800, 600);  // 0.8 MB as planes, of 4 MiB
  const auto decoder = Opened();
  std::vector<Result<DecodedImage>> kept;
  for (int i = 0; i < 12; ++i) {
    kept.push_back(decoder->Decode(file));
    ASSERT_TRUE(kept.back().ok());
  }
  EXPECT_GT(decoder->images(DecodedBy::kHardware), 0u);
  EXPECT_LE(decoder->images(DecodedBy::kHardware), 5u);
}

TEST_F(SimulatedHardwareDecoderTest, AGpuThatFaultsIsTheImagesAnswer) {
  const File file = Noise(320, 240);
  const auto decoder = Opened();
  simulated::FaultWork(0, cudaErrorIllegalAddress, 3);
  StatusCode code = StatusCode::kOk;
  for (int i = 0; i < 20 && code == StatusCode::kOk; ++i) {
    code = decoder->Decode(file).status().code();
  }
  EXPECT_EQ(code, StatusCode::kGpuLost);
  EXPECT_EQ(decoder->images(DecodedBy::kCpu), 0u);
}

TEST(SimulatedHardwareDecoderDeathTest, EnginesThatHangEndTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto body = [] {
    simulated::PlugIn({{}});
    const File file = Noise(640, 480);
    auto engines = *NvJpegEngines::Open(**NvJpegLibrary::Open(), 0, std::chrono::milliseconds(300));
    HardwareDecoder decoder(std::move(engines), size_t{64} << 20);
    simulated::Hang(0);
    (void)decoder.TryDecode(DescribeEncoded(file), {});
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(69), "while decoding images");
}

}  // namespace
}  // namespace lattice::test
