#include <thread>

#include "native/decode/image_decoder.h"
#include "native/decode/nvjpeg/open_hardware_decoder.h"
#include "native/preprocess/yuv_sample.h"
#include "test/native/cuda/gpu_test.h"
#include "test/native/decode/nvjpeg/sample_jpeg.h"

namespace lattice {
namespace {

// Engines may refuse pictures that are narrower.
constexpr int kOrdinary = 64;
constexpr int kSides[][2] = {{640, 480}, {641, 479}, {1280, 720}, {1920, 1080}, {50, 33}};

class HardwareDecoderOnGpu : public GpuTest {
 protected:
  // R, G, B of a picture in GPU memory, as the letterbox kernel reads them.
  static std::vector<uint8_t> Rgb(const GpuImage& image) {
    std::vector<uint8_t> planes[3];
    const uint8_t* at[3];
    for (size_t i = 0; i < 3; ++i) {
      const int rows = i == 0 ? image.height : ChromaSize(image.height);
      planes[i].resize(static_cast<size_t>(image.pitches[i]) * static_cast<size_t>(rows));
      EXPECT_EQ(
          cudaMemcpy(planes[i].data(), image.planes[i], planes[i].size(), cudaMemcpyDeviceToHost),
          cudaSuccess);
      at[i] = planes[i].data();
    }
    std::vector<uint8_t> rgb;
    for (int y = 0; y < image.height; ++y) {
      const YuvRow row = YuvRowAt(at, image.pitches.data(), image.width, image.height, y);
      for (int x = 0; x < image.width; ++x) {
        const RgbLevels levels = row.At(x);
        for (const int level : {levels.red, levels.green, levels.blue}) {
          rgb.push_back(static_cast<uint8_t>(level));
        }
      }
    }
    return rgb;
  }

  static DecodeRequest RequestFor(std::span<const uint8_t> file) {
    DecodeRequest request;
    request.encoded = DescribeEncoded(file);
    request.gpu_images = true;
    return request;
  }
};

TEST_F(HardwareDecoderOnGpu, PixelsAreNearlyTheCpus) {
  ASSERT_TRUE(InitDecoders().ok());
  const auto decoder = OpenHardwareDecoder(0);
  if (!decoder.ok()) GTEST_SKIP() << decoder.status().message();
  for (const auto& [width, height] : kSides) {
    SCOPED_TRACE(std::to_string(width) + " x " + std::to_string(height));
    const auto file = test::SampleJpeg(width, height);
    const auto decoded = (*decoder)->TryDecode(RequestFor(file));
    if (!decoded && width < kOrdinary) {
      std::printf("the engines take no %d x %d\n", width, height);
      continue;
    }
    ASSERT_TRUE(decoded);
    ASSERT_TRUE(decoded->ok()) << decoded->status().message();
    const std::vector<uint8_t> rgb = Rgb(**decoded);
    const auto expected = Decode(file, {});
    ASSERT_TRUE(expected.ok());
    ASSERT_EQ(rgb.size(), expected->data.size());
    int largest = 0;
    double sum = 0;
    for (size_t i = 0; i < rgb.size(); ++i) {
      const int difference = std::abs(rgb[i] - expected->data[i]);
      largest = std::max(largest, difference);
      sum += difference;
    }
    const double mean = sum / static_cast<double>(rgb.size());
    std::printf("%d x %d: largest difference %d, mean %.4f\n", width, height, largest, mean);
    EXPECT_LE(largest, 8);
    EXPECT_LE(mean, 0.5);
  }
}

TEST_F(HardwareDecoderOnGpu, ManyThreadsGetTheirOwnPictures) {
  ASSERT_TRUE(InitDecoders().ok());
  auto hardware = OpenHardwareDecoder(0);
  if (!hardware.ok()) GTEST_SKIP() << hardware.status().message();
  HardwareDecoder& decoder = **hardware;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      const auto file = test::SampleJpeg(320 + 16 * thread, 240);
      const auto first = decoder.TryDecode(RequestFor(file));
      ASSERT_TRUE(first && first->ok());
      const std::vector<uint8_t> pixels = Rgb(**first);
      for (int i = 0; i < 200; ++i) {
        const auto again = decoder.TryDecode(RequestFor(file));
        ASSERT_TRUE(again && again->ok());
        ASSERT_EQ(Rgb(**again), pixels);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace lattice
