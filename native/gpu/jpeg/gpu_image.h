// A picture in the memory of a GPU, where its decoder left it.
#ifndef LATTICE_GPU_JPEG_GPU_IMAGE_H_
#define LATTICE_GPU_JPEG_GPU_IMAGE_H_

#include <array>
#include <cstdint>
#include <memory>

namespace lattice {

// Complete when it is handed out: the decoder waited for it. Code that queues reads of it keeps a
// copy until the host has seen them done; the memory is written again only when the last copy is
// gone. So no stream has to wait for another, not even where a decoder does not order its writes
// after earlier work of a stream, as the JPEG engines do not.
struct GpuImage {
  int gpu = -1;   // as CUDA counts in this process; -1: no picture
  int width = 0;  // as shown
  int height = 0;
  int orientation = 1;  // as Image::orientation
  // Y, Cb, Cr of a JPEG in 4:2:0, full range; chroma sides are half, rounded up.
  std::array<const uint8_t*, 3> planes = {};
  std::array<int, 3> pitches = {};     // bytes from one row to the next
  std::shared_ptr<const void> memory;  // shared by all copies
};

}  // namespace lattice

#endif  // LATTICE_GPU_JPEG_GPU_IMAGE_H_
