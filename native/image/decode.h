// Encoded bytes -> pixels, oriented as EXIF says.
#ifndef LATTICE_IMAGE_DECODE_H_
#define LATTICE_IMAGE_DECODE_H_

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>

#include "native/base/byte_buffer.h"
#include "native/base/status.h"
#include "native/image/pixel_layout.h"

namespace lattice {

// 8 bits per sample, in memory of the engine's choice. Move-construct images: assigning one copies
// the pixels when the memory resources differ.
struct Image {
  int width = 0;  // as shown
  int height = 0;
  ByteBuffer data;  // laid out as StoredPlanes says
  PixelLayout layout = PixelLayout::kRgb;
  // EXIF's 1 to 8: how the stored planes are turned when shown (native/image/turn.h). RGB: 1.
  int orientation = 1;
};

// The picture as it is stored, whose sides are swapped from orientation 5 on.
inline PackedPlanes StoredPlanes(const Image& image) {
  return image.orientation < 5 ? PackPlanes(image.layout, image.width, image.height)
                               : PackPlanes(image.layout, image.height, image.width);
}

struct DecodeLimits {
  // A pixel for which a file stores more than 16 bytes counts as several, side by side.
  size_t max_pixels = 64'000'000;
  int max_side = 16'384;
};

// kImageTooLarge, naming the limit, or ok.
Status CheckSize(int width, int height, const DecodeLimits& limits);

// Text for the message about a damaged picture.
std::string FirstRowsReadable(int rows, int height);

// Call it once per process, before the first Decode. Thread-safe, idempotent. Blocks every loader
// of libvips except JPEG, PNG, WebP, TIFF and AVIF, for all users of the same libvips in the
// process.
Status InitDecoders();

// Limits are checked on the header, before pixels are decoded. The first frame of an animation
// counts. Grey, palette, CMYK, 16-bit, float and alpha are turned into 8-bit RGB (alpha is dropped,
// as OpenCV's IMREAD_COLOR does). kUnsupportedImageFormat, kImageTooLarge or kInvalidImage:
// rows are missing, or the decoder would make some up. A JPEG that lacks nothing but its end
// marker, or has bytes too many, is whole. Thread-safe; runs on the calling thread, which calls
// vips_thread_shutdown() (or ends) when it is done for good. Peak memory: the bytes plus the
// decoded image twice; a progressive JPEG up to three times, an interlaced PNG of 16 bits, first
// held as stored, more. `memory` receives the pixels and must outlive them; a std::bad_alloc of it
// is kOverloaded. `wanted` kYuv420 lets a JPEG that is coded so (or grey) come as the planes it
// holds, not turned, which takes half the time and half the memory; everything else is RGB whatever
// is wanted. YuvRow (native/letterbox/yuv_sample.h) makes the RGB of such planes, bit for bit.
Result<Image> Decode(std::span<const uint8_t> bytes, const DecodeLimits& limits,
                     std::pmr::memory_resource* memory = std::pmr::get_default_resource(),
                     PixelLayout wanted = PixelLayout::kRgb);

// Names for build information.
std::string LibvipsVersion();
std::string JpegDecoderName();

}  // namespace lattice

#endif  // LATTICE_IMAGE_DECODE_H_
