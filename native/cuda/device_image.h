// A picture in the GPU's memory, as the letterbox kernel reads it.
#ifndef LATTICE_CUDA_DEVICE_IMAGE_H_
#define LATTICE_CUDA_DEVICE_IMAGE_H_

#include <cstdint>
#include <type_traits>

#include "native/preprocess/letterbox.h"

namespace lattice {

enum class PixelLayout : int32_t {
  kRgb,     // planes[0]: R, G, B bytes of each pixel in turn
  kYuv420,  // planes: Y, Cb, Cr; full range as in JPEG; chroma sides are half, rounded up
};

// Copied to the GPU byte by byte. planes[0] null: no picture, all grey (an unused place of a
// batch). The picture's size is transform.source_width x transform.source_height.
struct DeviceImage {
  const uint8_t* planes[3] = {};  // borrowed; unused ones are null
  int pitches[3] = {};            // bytes from one row to the next
  PixelLayout layout = PixelLayout::kRgb;
  LetterboxTransform transform;
};
static_assert(std::is_trivially_copyable_v<DeviceImage>);

}  // namespace lattice

#endif  // LATTICE_CUDA_DEVICE_IMAGE_H_
