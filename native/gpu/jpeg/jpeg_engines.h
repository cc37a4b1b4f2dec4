// The JPEG engines of one GPU, as HardwareDecoder uses them.
#ifndef LATTICE_GPU_JPEG_JPEG_ENGINES_H_
#define LATTICE_GPU_JPEG_JPEG_ENGINES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "native/image/encoded_image.h"

namespace lattice {

// A baseline JPEG in 4:2:0, and where its Y, Cb and Cr go in GPU memory.
struct EngineJpeg {
  std::span<const uint8_t> bytes;
  std::array<uint8_t*, 3> planes = {};
  std::array<int, 3> pitches = {};
};

class JpegEngines {
 public:
  // Batches that may be in work, each in a place: while one is on the engines, the next is on its
  // way there.
  static constexpr int kPlaces = 2;

  virtual ~JpegEngines() = default;

  virtual int gpu() const = 0;    // as CUDA counts in this process
  virtual int count() const = 0;  // images that are decoded at the same time; 1 or more

  // Whether the engines decode the file and read the same sides from it, by its header. Asks the
  // host only. Thread-safe.
  virtual bool Supports(const EncodedImage& encoded) = 0;

  // GPU memory that is freed with its last owner; null where there is none. Thread-safe.
  virtual std::shared_ptr<uint8_t> Allocate(size_t bytes) = 0;

  // Blocks until every image is in its planes; at most count() images. kGpuLost where the GPU
  // faulted: the engines must not be used any more.
  // Any other failure means that one of the images cannot be decoded here; nothing is in work then.
  // Each place (0 to kPlaces - 1) may have one call at a time.
  virtual Status DecodeBatch(int place, std::span<const EngineJpeg> images) = 0;
};

}  // namespace lattice

#endif  // LATTICE_GPU_JPEG_JPEG_ENGINES_H_
