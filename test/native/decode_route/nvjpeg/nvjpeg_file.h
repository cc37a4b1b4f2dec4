// Files for decoders that only look at what a test wrote into them.
#ifndef LATTICE_TEST_DECODE_ROUTE_NVJPEG_NVJPEG_FILE_H_
#define LATTICE_TEST_DECODE_ROUTE_NVJPEG_NVJPEG_FILE_H_

#include <cstring>
#include <vector>

#include "native/decode_route/decode_request.h"

namespace lattice::test {

// A file that every decoder here can read: its number, what is wrong with it, the end of a JPEG.
struct NvJpegFile {
  enum Fault : uint8_t { kNone, kUnsupported, kUndecodable };

  explicit NvJpegFile(int number, Fault fault = kNone, int width = 64, int height = 48)
      : bytes(100 + static_cast<size_t>(number) % 50) {
    std::memcpy(bytes.data(), &number, sizeof(number));
    bytes[4] = fault;
    bytes[bytes.size() - 2] = 0xFF;
    bytes[bytes.size() - 1] = 0xD9;
    request.encoded.bytes = bytes;
    request.encoded.format = ImageFormat::kJpeg;
    JpegHeader& jpeg = request.encoded.jpeg;
    jpeg.width = width;
    jpeg.height = height;
    jpeg.components = 3;
    jpeg.precision = 8;
    jpeg.sampling = {0x22, 0x11, 0x11};
    request.gpu_images = true;
  }
  NvJpegFile(const NvJpegFile&) = delete;
  NvJpegFile& operator=(const NvJpegFile&) = delete;

  static int NumberIn(const uint8_t* memory) {
    int number = 0;
    std::memcpy(&number, memory, sizeof(number));
    return number;
  }

  std::vector<uint8_t> bytes;
  DecodeRequest request;
};

}  // namespace lattice::test

#endif  // LATTICE_TEST_DECODE_ROUTE_NVJPEG_NVJPEG_FILE_H_
