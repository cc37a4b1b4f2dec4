#include "native/decode_route/decode_request.h"

#include <algorithm>

#include "native/image/image_size.h"

namespace lattice {

ChromaSampling EncodedImage::chroma_sampling() const {
  if (jpeg.components == 1) return ChromaSampling::kNone;
  // Chroma at one sample a unit, as every camera writes it.
  if (jpeg.components != 3 || jpeg.sampling[1] != 0x11 || jpeg.sampling[2] != 0x11) {
    return ChromaSampling::kOther;
  }
  switch (jpeg.sampling[0]) {
    case 0x11:
      return ChromaSampling::k444;
    case 0x21:
      return ChromaSampling::k422;
    case 0x22:
      return ChromaSampling::k420;
    case 0x12:
      return ChromaSampling::k440;
    case 0x41:
      return ChromaSampling::k411;
    default:
      return ChromaSampling::kOther;
  }
}

EncodedImage DescribeEncoded(std::span<const uint8_t> bytes) {
  EncodedImage encoded{bytes, SniffFormat(bytes).format, {}};
  if (encoded.format == ImageFormat::kJpeg) {
    encoded.jpeg = ReadJpegFrame(bytes).value_or(JpegHeader{});
  }
  return encoded;
}

size_t ExpectedPixelBytes(const DecodeRequest& request) {
  const EncodedImage& encoded = request.encoded;
  ImageSize size{encoded.jpeg.width, encoded.jpeg.height};
  if (encoded.format != ImageFormat::kJpeg) {
    size = ReadImageSize(encoded.bytes, encoded.format).value_or(ImageSize{});
  }
  if (size.width <= 0 || size.height <= 0) return 0;
  const auto pixels = static_cast<size_t>(size.width) * static_cast<size_t>(size.height);
  const bool within = pixels <= request.limits.max_pixels &&
                      std::max(size.width, size.height) <= request.limits.max_side;
  if (!within) return 0;
  const ChromaSampling sampling = encoded.chroma_sampling();
  const bool planes = encoded.format == ImageFormat::kJpeg && !encoded.jpeg.rgb_coded &&
                      (sampling == ChromaSampling::k420 || sampling == ChromaSampling::kNone);
  return PackPlanes(planes ? request.wanted : PixelLayout::kRgb, size.width, size.height).bytes;
}

}  // namespace lattice
