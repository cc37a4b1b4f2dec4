// Pixels of one row of an image in the GPU's memory.
#ifndef LATTICE_CUDA_KERNELS_IMAGE_ROW_H_
#define LATTICE_CUDA_KERNELS_IMAGE_ROW_H_

#include <cstdint>

#include "native/base/host_device.h"
#include "native/cuda/kernels/device_image.h"
#include "native/image/turn.h"
#include "native/preprocess/yuv_sample.h"

namespace lattice {

struct RgbRow {
  const uint8_t* pixels;

  LATTICE_HOST_DEVICE RgbLevels At(int x) const {
    const uint8_t* pixel = pixels + 3 * x;
    return {pixel[0], pixel[1], pixel[2]};
  }
};

// A row of an image whose stored pixels are rotated or mirrored.
struct TurnedYuvRow {
  const DeviceImage& image;
  int y;

  LATTICE_HOST_DEVICE RgbLevels At(int x) const {
    const Turn turn = Turn::Of(image.orientation);
    const int width = image.transform.source_width;
    const int height = image.transform.source_height;
    const StoredPoint at = turn.At(x, y, width, height);
    const int stored_width = turn.quarter ? height : width;
    const int stored_height = turn.quarter ? width : height;
    return YuvRowAt(image.planes, image.pitches, stored_width, stored_height, at.y).At(at.x);
  }
};

}  // namespace lattice

#endif  // LATTICE_CUDA_KERNELS_IMAGE_ROW_H_
