// BMP as the SDKs of cameras write it: uncompressed.
#ifndef LATTICE_IMAGE_BMP_DECODE_H_
#define LATTICE_IMAGE_BMP_DECODE_H_

#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>

#include "native/base/status.h"
#include "native/image/decode.h"
#include "native/image/image_size.h"

namespace lattice {

// 1, 4 and 8 bits with a palette, 24 and 32 bits; rows from the bottom or from the top. Any other
// kind is kUnsupportedImageFormat. Else as Decode. Thread-safe.
Result<Image> DecodeBmp(std::span<const uint8_t> bytes, const DecodeLimits& limits,
                        std::pmr::memory_resource* memory);

// Returns nullopt where DecodeBmp would not take the file.
std::optional<ImageSize> ReadBmpSize(std::span<const uint8_t> bytes);

}  // namespace lattice

#endif  // LATTICE_IMAGE_BMP_DECODE_H_
