#include "native/gpu/kernels/letterbox_kernel.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "native/image/orientation.h"
#include "test/native/gpu/cuda/gpu_test.h"
#include "test/native/gpu/kernels/random_pictures.h"

namespace lattice {
namespace {

// Pictures in GPU memory and what the CPU makes of them.
struct Batch {
  std::vector<DeviceBuffer> planes;
  std::vector<DeviceImage> images;
  std::vector<uint16_t> expected;  // halves
};

class LetterboxKernel : public GpuTest {
 protected:
  static constexpr int kWidth = 640;
  static constexpr int kHeight = 384;

  // `width` and `height` as stored.
  void Add(PixelLayout layout, int width, int height, std::mt19937& random, Batch* batch,
           int orientation = 1) {
    const RandomPicture picture = MakeRandomPicture(layout, width, height, random);
    const Image shown = Oriented(picture.image, orientation);
    const LetterboxTransform t = ComputeLetterbox(shown.width, shown.height, kWidth, kHeight);
    const uint8_t* planes[3] = {};
    for (int plane = 0; plane < 3; ++plane) {
      if (picture.planes[plane].empty()) continue;
      batch->planes.push_back(Uploaded(picture.planes[plane]));
      planes[plane] = batch->planes.back().As<uint8_t>();
    }
    batch->images.push_back(DescribePicture(picture, planes, t));
    batch->images.back().orientation = orientation;
    std::vector<float> input(size_t{3} * kWidth * kHeight);
    Letterbox(shown, t, kWidth, kHeight, input.data());
    for (const float value : input) {
      const __half half = __float2half_rn(value);
      uint16_t bits;
      std::memcpy(&bits, &half, sizeof bits);
      batch->expected.push_back(bits);
    }
  }
};

TEST_F(LetterboxKernel, GivesTheCpusLevels) {
  std::mt19937 random(1);
  Batch batch;
  const int sizes[][2] = {{1, 1},     {4, 4},     {5, 5},     {1, 1000},    {1000, 1}, {640, 384},
                          {640, 427}, {320, 192}, {639, 481}, {1920, 1080}, {3001, 77}};
  for (const auto& size : sizes) {
    Add(PixelLayout::kRgb, size[0], size[1], random, &batch);
    Add(PixelLayout::kYuv420, size[0], size[1], random, &batch);
  }
  for (int orientation = 2; orientation <= 8; ++orientation) {
    Add(PixelLayout::kYuv420, 641, 479, random, &batch, orientation);
  }
  const DeviceBuffer images = Uploaded(batch.images);
  const DeviceBuffer out = Allocated(batch.expected.size() * sizeof(__half));
  ASSERT_EQ(LaunchLetterbox(images.As<DeviceImage>(), static_cast<int>(batch.images.size()), kWidth,
                            kHeight, out.As<__half>(), stream().get()),
            cudaSuccess);
  EXPECT_EQ(Downloaded<uint16_t>(out), batch.expected);
}

TEST_F(LetterboxKernel, OneGraphServesOtherPictures) {
  std::mt19937 random(2);
  const DeviceBuffer images = Allocated(2 * sizeof(DeviceImage));
  const DeviceBuffer out = Allocated(size_t{2} * 3 * kWidth * kHeight * sizeof(__half));
  ASSERT_EQ(LoadLetterboxKernel(), cudaSuccess);
  const Result<Graph> graph = Graph::Capture(stream(), [&] {
    return ToStatus(LaunchLetterbox(images.As<DeviceImage>(), 2, kWidth, kHeight, out.As<__half>(),
                                    stream().get()),
                    "launching the letterbox");
  });
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  for (int round = 0; round < 20; ++round) {
    Batch batch;
    for (const PixelLayout layout : {PixelLayout::kRgb, PixelLayout::kYuv420}) {
      const auto side = [&] { return static_cast<int>(1 + random() % 1500); };
      Add(layout, side(), side(), random, &batch);
    }
    Upload(batch.images, images);
    ASSERT_TRUE(graph->Launch(stream()).ok());
    EXPECT_EQ(Downloaded<uint16_t>(out), batch.expected) << round;
  }
}

TEST_F(LetterboxKernel, RefusesWidthsItCannotStore) {
  EXPECT_EQ(LaunchLetterbox(nullptr, 1, 636, 640, nullptr, stream().get()), cudaErrorInvalidValue);
  EXPECT_EQ(LaunchLetterbox(nullptr, 0, 640, 640, nullptr, stream().get()), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace lattice
