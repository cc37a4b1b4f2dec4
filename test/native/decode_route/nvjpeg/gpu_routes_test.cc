#include "native/decode_route/nvjpeg/gpu_routes.h"

#include <thread>

#include "native/decode_route/decode_router.h"
#include "native/image/sample_jpeg.h"
#include "native/preprocess/yuv_sample.h"
#include "test/native/cuda/gpu_test.h"

namespace lattice {
namespace {

// Engines may refuse pictures that are narrower.
constexpr int kOrdinary = 64;
constexpr int kSides[][2] = {{640, 480}, {641, 479}, {1280, 720}, {1920, 1080}, {50, 33}};

class NvJpegRoutesOnGpu : public GpuTest {
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

  // A router over each route of the first GPU alone.
  static std::vector<std::unique_ptr<DecodeRouter>> Alone() {
    std::vector<std::unique_ptr<DecodeRouter>> routers;
    GpuRoutes opened = OpenGpuRoutes({}, 2);
    for (const std::string& reason : opened.missing) std::printf("%s\n", reason.c_str());
    for (auto& route : opened.routes) {
      std::vector<std::unique_ptr<DecodeRoute>> one;
      one.push_back(std::move(route));
      routers.push_back(std::make_unique<DecodeRouter>(std::move(one)));
    }
    return routers;
  }

  static DecodeRequest RequestFor(std::span<const uint8_t> file) {
    DecodeRequest request;
    request.encoded = DescribeEncoded(file);
    request.gpu_images = true;
    return request;
  }
};

TEST_F(NvJpegRoutesOnGpu, PixelsAreNearlyTheCpus) {
  ASSERT_TRUE(InitDecoders().ok());
  const auto routers = Alone();
  if (routers.empty()) GTEST_SKIP() << "no nvJPEG route: see above";
  for (const auto& router : routers) {
    const std::string name = router->stats()[0].name;
    for (const auto& [width, height] : kSides) {
      SCOPED_TRACE(name + ", " + std::to_string(width) + " x " + std::to_string(height));
      const auto file = MakeSampleJpeg(width, height);
      ASSERT_TRUE(file.ok());
      const auto decoded = router->Decode(RequestFor(*file));
      if (!decoded.ok() && router->stats()[0].refused > 0 && width < kOrdinary) {
        std::printf("%s takes no %d x %d\n", name.c_str(), width, height);
        continue;
      }
      ASSERT_TRUE(decoded.ok()) << decoded.status().message();
      const std::vector<uint8_t> rgb = Rgb(decoded->on_gpu);
      const auto expected = Decode(*file, {});
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
      std::printf("%s, %d x %d: largest difference %d, mean %.4f\n", name.c_str(), width, height,
                  largest, mean);
      EXPECT_LE(largest, 8);
      EXPECT_LE(mean, 0.5);
    }
  }
}

TEST_F(NvJpegRoutesOnGpu, ManyThreadsGetTheirOwnPictures) {
  ASSERT_TRUE(InitDecoders().ok());
  const auto routers = Alone();
  if (routers.empty()) GTEST_SKIP() << "no nvJPEG route: see above";
  for (const auto& router : routers) {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 8; ++thread) {
      threads.emplace_back([&, thread] {
        const auto file = MakeSampleJpeg(320 + 16 * thread, 240);
        ASSERT_TRUE(file.ok());
        const auto first = router->Decode(RequestFor(*file));
        ASSERT_TRUE(first.ok()) << first.status().message();
        const std::vector<uint8_t> pixels = Rgb(first->on_gpu);
        for (int i = 0; i < 200; ++i) {
          const auto again = router->Decode(RequestFor(*file));
          ASSERT_TRUE(again.ok()) << again.status().message();
          ASSERT_EQ(Rgb(again->on_gpu), pixels);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace lattice
