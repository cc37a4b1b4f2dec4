// How the images of a batch reach the GPU: what is copied of their pictures, and where the kernels
// find it.
#ifndef LATTICE_GPU_TENSORRT_SLOT_PIXELS_H_
#define LATTICE_GPU_TENSORRT_SLOT_PIXELS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "native/boxes/detections.h"
#include "native/gpu/cuda/owners.h"
#include "native/gpu/jpeg/image_decoder.h"
#include "native/gpu/kernels/device_image.h"

namespace lattice {

// One image of a batch: a part of a picture, or all of it.
struct SlotImage {
  const DecodedImage* picture = nullptr;  // on the GPU, where it is read in place, or best pinned
  Rect part;                              // of an RGB picture on the host; else the whole
  LetterboxTransform transform;           // of the part
  const DetectionOptions* options = nullptr;
};

// Copies the smallest rectangle of each host picture that holds its images, once for all of them.
// Images belong to one picture if they have the same object.
class SlotPixels {
 public:
  explicit SlotPixels(std::span<const SlotImage> images);

  // That a picture of so many bytes takes on the GPU.
  static size_t Aligned(size_t bytes);
  // That the copies take on the GPU.
  size_t bytes() const;
  // Queues the copies to `there`, which has bytes(). The pictures must stay until they are done.
  Status Queue(uint8_t* there, const Stream& stream);
  // The place where the kernels find one of the images after all queued work is done.
  DeviceImage Describe(const SlotImage& image) const;

 private:
  // Rows follow each other without padding.
  struct Copy {
    const Image* pixels;
    Rect rect;
    uint8_t* there = nullptr;

    bool is_rgb() const { return pixels->layout == PixelLayout::kRgb; }
    size_t row_bytes() const { return size_t{3} * static_cast<size_t>(rect.width); }
    size_t bytes() const;
    Status Queue(const Stream& stream) const;
  };

  size_t IndexOf(const Image* pixels) const;  // of the number of copies if there is none

  std::vector<Copy> copies_;
};

}  // namespace lattice

#endif  // LATTICE_GPU_TENSORRT_SLOT_PIXELS_H_
