// What a decode route asks of nvJPEG: the seam between the route's own logic and the library.
#ifndef LATTICE_DECODE_ROUTE_NVJPEG_NVJPEG_DEVICE_H_
#define LATTICE_DECODE_ROUTE_NVJPEG_NVJPEG_DEVICE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "native/decode_route/decode_request.h"

namespace lattice {

// A baseline JPEG in 4:2:0, and where in the GPU's memory its Y, Cb and Cr go.
struct NvJpegPicture {
  std::span<const uint8_t> bytes;  // lies in the lane's staging memory
  std::array<uint8_t*, 3> planes = {};
  std::array<int, 3> pitches = {};
};

// A decoder state with its stream. One call at a time.
class NvJpegLane {
 public:
  virtual ~NvJpegLane() = default;

  // Host memory of `bytes` for the files of the next Decode, valid until the next Stage. May block.
  virtual Result<std::span<uint8_t>> Stage(size_t bytes) = 0;

  // Blocks until every picture lies in its planes. kGpuLost where the GPU faulted; any other
  // failure says that one of the pictures cannot be decoded here, and leaves the lane usable with
  // nothing under way.
  virtual Status Decode(std::span<const NvJpegPicture> pictures) = 0;
};

// Shared by the lanes of one route.
class NvJpegDevice {
 public:
  virtual ~NvJpegDevice() = default;

  // Whether the device decodes the file and reads the same sides from it, by its header; asks the
  // host only. Thread-safe.
  virtual bool Supports(const EncodedImage& encoded) = 0;
};

}  // namespace lattice

#endif  // LATTICE_DECODE_ROUTE_NVJPEG_NVJPEG_DEVICE_H_
