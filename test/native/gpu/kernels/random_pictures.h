// Random pictures in the layouts that the letterbox kernel reads.
#ifndef LATTICE_TEST_GPU_KERNELS_RANDOM_PICTURES_H_
#define LATTICE_TEST_GPU_KERNELS_RANDOM_PICTURES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "native/gpu/kernels/device_image.h"
#include "native/letterbox/yuv_sample.h"

namespace lattice {

// Planes as a decoder leaves them, rows padded, and the same picture as the CPU's letterbox takes
// it.
struct RandomPicture {
  PixelLayout layout;
  std::vector<uint8_t> planes[3];
  int pitches[3] = {};
  Image image;
};

inline RandomPicture MakeRandomPicture(PixelLayout layout, int width, int height,
                                       std::mt19937& random) {
  RandomPicture picture{layout, {}, {}, {width, height, {}}};
  const auto fill = [&](int plane, int row_bytes, int rows) {
    picture.pitches[plane] = row_bytes + static_cast<int>(random() % 40);
    picture.planes[plane].resize(static_cast<size_t>(picture.pitches[plane]) *
                                 static_cast<size_t>(rows));
    for (uint8_t& level : picture.planes[plane]) level = static_cast<uint8_t>(random());
  };
  if (layout == PixelLayout::kRgb) {
    fill(0, 3 * width, height);
    for (int y = 0; y < height; ++y) {
      const auto row = picture.planes[0].begin() + ptrdiff_t{y} * picture.pitches[0];
      picture.image.data.insert(picture.image.data.end(), row, row + ptrdiff_t{3} * width);
    }
    return picture;
  }
  fill(0, width, height);
  for (int plane = 1; plane < 3; ++plane) fill(plane, ChromaSize(width), ChromaSize(height));
  const uint8_t* const planes[3] = {picture.planes[0].data(), picture.planes[1].data(),
                                    picture.planes[2].data()};
  for (int y = 0; y < height; ++y) {
    const YuvRow row = YuvRowAt(planes, picture.pitches, width, height, y);
    for (int x = 0; x < width; ++x) {
      const RgbLevels pixel = row.At(x);
      for (const int level : {pixel.red, pixel.green, pixel.blue}) {
        picture.image.data.push_back(static_cast<uint8_t>(level));
      }
    }
  }
  return picture;
}

// The descriptor of a picture whose planes lie at `planes`.
inline DeviceImage DescribePicture(const RandomPicture& picture, const uint8_t* const planes[3],
                                   const LetterboxTransform& transform) {
  DeviceImage described;
  std::copy(planes, planes + 3, described.planes);
  std::copy(picture.pitches, picture.pitches + 3, described.pitches);
  described.layout = picture.layout;
  described.transform = transform;
  return described;
}

}  // namespace lattice

#endif  // LATTICE_TEST_GPU_KERNELS_RANDOM_PICTURES_H_
