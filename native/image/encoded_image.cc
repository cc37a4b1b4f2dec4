#include "native/image/encoded_image.h"

#include <array>

#include "native/image/image_size.h"

namespace lattice {

bool EncodedImage::is_420() const {
  return jpeg.components == 3 && jpeg.sampling == std::array<uint8_t, 3>{0x22, 0x11, 0x11};
}

EncodedImage DescribeEncoded(std::span<const uint8_t> bytes) {
  EncodedImage encoded{bytes, SniffFormat(bytes).format, {}};
  if (encoded.format == ImageFormat::kJpeg) {
    encoded.jpeg = ReadJpegFrame(bytes).value_or(JpegHeader{});
  }
  return encoded;
}

size_t ExpectedPixelBytes(const EncodedImage& encoded, const DecodeLimits& limits,
                          PixelLayout wanted) {
  ImageSize size{encoded.jpeg.width, encoded.jpeg.height};
  if (encoded.format != ImageFormat::kJpeg) {
    size = ReadImageSize(encoded.bytes, encoded.format).value_or(ImageSize{});
  }
  if (size.width <= 0 || size.height <= 0) return 0;
  if (!CheckSize(size.width, size.height, limits).ok()) return 0;
  const bool planes = encoded.format == ImageFormat::kJpeg && !encoded.jpeg.rgb_coded &&
                      (encoded.is_420() || encoded.jpeg.components == 1);
  return PackPlanes(planes ? wanted : PixelLayout::kRgb, size.width, size.height).bytes;
}

}  // namespace lattice
