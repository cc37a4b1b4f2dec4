// Encoded bytes -> pixels, oriented as EXIF says.
#ifndef LATTICE_IMAGE_DECODE_H_
#define LATTICE_IMAGE_DECODE_H_

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "native/base/status.h"
#include "native/image/pixel_layout.h"

namespace lattice {

// 8 bits a sample. Pixels lie where their engine wants them. Move-construct images: assigning one
// copies the pixels when the memory differs.
struct Image {
  int width = 0;  // as shown
  int height = 0;
  std::pmr::vector<uint8_t> data;  // laid out as StoredPlanes says
  PixelLayout layout = PixelLayout::kRgb;
  // EXIF's 1 to 8: how stored planes are to be turned (native/image/turn.h). RGB is always 1.
  int orientation = 1;
};

// Of the picture as it is stored, whose sides are swapped from orientation 5 on.
inline PackedPlanes StoredPlanes(const Image& image) {
  return image.orientation < 5 ? PackPlanes(image.layout, image.width, image.height)
                               : PackPlanes(image.layout, image.height, image.width);
}

struct DecodeLimits {
  // A pixel for which a file stores more than 16 bytes counts as several, side by side.
  size_t max_pixels = 64'000'000;
  int max_side = 16'384;
};

// Once per process, before the first Decode; thread-safe, idempotent. Blocks every loader of
// libvips but JPEG, PNG, WebP, TIFF and AVIF, for everybody in the process who uses the same
// libvips.
Status InitDecoders();

// Limits are checked on the header, before pixels are decoded. The first frame of an animation
// counts. Grey, palette, CMYK, 16-bit, float and alpha are turned into 8-bit RGB (alpha is dropped,
// as OpenCV's IMREAD_COLOR does). kUnsupportedImageFormat, kImageTooLarge or kInvalidImage
// (damaged, truncated). Thread-safe; runs on the calling thread, which calls vips_thread_shutdown()
// (or ends) when it is done for good. Peak memory: the bytes plus the decoded image twice;
// a progressive JPEG up to three times, an interlaced PNG of 16 bits, first held as stored, more.
// `memory` receives the pixels and must outlive them; a std::bad_alloc of it is kOverloaded.
// `wanted` kYuv420 lets a JPEG that is coded so (or grey) come as the planes it holds, not turned,
// which takes half the time and half the memory; everything else is RGB whatever is wanted. YuvRow
// (native/preprocess/yuv_sample.h) makes the RGB of such planes, bit for bit.
Result<Image> Decode(std::span<const uint8_t> bytes, const DecodeLimits& limits,
                     std::pmr::memory_resource* memory = std::pmr::get_default_resource(),
                     PixelLayout wanted = PixelLayout::kRgb);

// A JPEG as RGB with `reduction` (2, 4 or 8) times fewer pixels a side, rounded up, for about half
// the time; oriented. Nothing where Decode has to be asked instead: another format, a file that
// libjpeg-turbo does not decode without a warning or that breaks the limits, no memory, a build
// without libjpeg-turbo. Otherwise as Decode.
std::optional<Image> DecodeReduced(
    std::span<const uint8_t> bytes, const DecodeLimits& limits, int reduction,
    std::pmr::memory_resource* memory = std::pmr::get_default_resource());

// Versions of what decodes, for build information.
std::string LibvipsVersion();
std::string JpegDecoderName();

}  // namespace lattice

#endif  // LATTICE_IMAGE_DECODE_H_
