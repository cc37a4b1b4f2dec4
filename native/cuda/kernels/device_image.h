// A picture in the GPU's memory, as the letterbox kernel reads it.
#ifndef LATTICE_CUDA_KERNELS_DEVICE_IMAGE_H_
#define LATTICE_CUDA_KERNELS_DEVICE_IMAGE_H_

#include <cstdint>
#include <type_traits>

#include "native/image/decode.h"
#include "native/image/pixel_layout.h"
#include "native/preprocess/letterbox.h"

namespace lattice {

// Copied to the GPU byte by byte. planes[0] null: no picture, all grey (an unused place of a
// batch). The picture's size is transform.source_width x transform.source_height.
struct DeviceImage {
  const uint8_t* planes[3] = {};  // borrowed; unused ones are null
  int pitches[3] = {};            // bytes from one row to the next
  PixelLayout layout = PixelLayout::kRgb;
  int32_t orientation = 1;  // as Image's
  LetterboxTransform transform;
};
static_assert(std::is_trivially_copyable_v<DeviceImage>);

// `image` once its bytes lie at `there`.
inline DeviceImage DescribeImage(const uint8_t* there, const Image& image,
                                 const LetterboxTransform& transform) {
  const PackedPlanes packed = StoredPlanes(image);
  DeviceImage described;
  for (int i = 0; i < 3 && packed.pitches[i] > 0; ++i) {
    described.planes[i] = there + packed.offsets[i];
    described.pitches[i] = packed.pitches[i];
  }
  described.layout = image.layout;
  described.orientation = image.orientation;
  described.transform = transform;
  return described;
}

}  // namespace lattice

#endif  // LATTICE_CUDA_KERNELS_DEVICE_IMAGE_H_
