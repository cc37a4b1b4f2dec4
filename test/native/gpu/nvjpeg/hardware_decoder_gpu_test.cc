#include <thread>

#include "native/gpu/gpu_engine.h"
#include "native/gpu/jpeg/image_decoder.h"
#include "native/letterbox/yuv_sample.h"
#include "test/native/gpu/cuda/gpu_test.h"
#include "test/native/gpu/nvjpeg/sample_jpeg.h"

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

  static Result<DecodedImage> Decoded(const ImageDecoder& decoder, std::span<const uint8_t> file) {
    return decoder.Decode(DescribeEncoded(file), {}, std::pmr::get_default_resource());
  }
};

TEST_F(HardwareDecoderOnGpu, PixelsAreNearlyTheCpus) {
  ASSERT_TRUE(InitDecoders().ok());
  const auto decoder = OpenJpegEngines(0);
  if (!decoder.ok()) GTEST_SKIP() << decoder.status().message();
  for (const auto& [width, height] : kSides) {
    SCOPED_TRACE(std::to_string(width) + " x " + std::to_string(height));
    const auto file = test::SampleJpeg(width, height);
    const auto decoded = Decoded(**decoder, file);
    ASSERT_TRUE(decoded.ok()) << decoded.status().message();
    if (!decoded->is_on_gpu() && width < kOrdinary) {
      std::printf("the engines take no %d x %d\n", width, height);
      continue;
    }
    ASSERT_TRUE(decoded->is_on_gpu());
    const std::vector<uint8_t> rgb = Rgb(decoded->on_gpu);
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
  const auto opened = OpenJpegEngines(0);
  if (!opened.ok()) GTEST_SKIP() << opened.status().message();
  const ImageDecoder& decoder = **opened;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      const auto file = test::SampleJpeg(320 + 16 * thread, 240);
      const auto first = Decoded(decoder, file);
      ASSERT_TRUE(first.ok() && first->is_on_gpu());
      const std::vector<uint8_t> pixels = Rgb(first->on_gpu);
      for (int i = 0; i < 200; ++i) {
        const auto again = Decoded(decoder, file);
        ASSERT_TRUE(again.ok() && again->is_on_gpu());
        ASSERT_EQ(Rgb(again->on_gpu), pixels);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace lattice
