// An image in the GPU's memory, as the letterbox kernel reads it.
#ifndef LATTICE_GPU_KERNELS_DEVICE_IMAGE_H_
#define LATTICE_GPU_KERNELS_DEVICE_IMAGE_H_

#include <cstdint>
#include <type_traits>

#include "native/image/decode.h"
#include "native/image/pixel_layout.h"
#include "native/letterbox/letterbox.h"

namespace lattice {

// Copied to the GPU byte by byte. If planes[0] is null, there is no image (an unused place of a
// batch) and the input is grey. Size: transform.source_width x transform.source_height.
struct DeviceImage {
  const uint8_t* planes[3] = {};  // borrowed; unused ones are null
  int pitches[3] = {};            // bytes from one row to the next
  PixelLayout layout = PixelLayout::kRgb;
  int32_t orientation = 1;  // as in Image
  LetterboxTransform transform;
};
static_assert(std::is_trivially_copyable_v<DeviceImage>);

// Describes `image` for the time when its bytes are at `there` in the GPU's memory.
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

#endif  // LATTICE_GPU_KERNELS_DEVICE_IMAGE_H_
