#include "native/decode_route/decode_request.h"

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

}  // namespace lattice
