// Pictures through every way of decoding. libvips and libjpeg-turbo are not instrumented: this is
// about how our code takes what they say.
#include <algorithm>

#include "native/image/decode.h"
#include "native/image/image_format.h"
#include "native/image/image_size.h"
#include "native/image/jpeg_extent.h"
#include "native/image/jpeg_header.h"
#include "native/image/turbojpeg_decode.h"
#include "native/image/vips_decode.h"
#include "test/native/fuzz/fuzz.h"
#include "test/native/image/encoded_samples.h"

namespace lattice {
namespace {

using fuzz::Require;
using Bytes = std::span<const uint8_t>;

// Small, so that a second holds many pictures.
constexpr DecodeLimits kLimits{1'000'000, 4096};

Result<Image> Decoded(Bytes bytes, PixelLayout wanted = PixelLayout::kRgb) {
  return Decode(bytes, kLimits, std::pmr::get_default_resource(), wanted);
}

void CheckSize(Bytes bytes, const Image& image) {
  const auto size = ReadImageSize(bytes, SniffFormat(bytes).format);
  Require(image.data.size() == StoredPlanes(image).bytes && size.has_value());
  Require(std::minmax(size->width, size->height) == std::minmax(image.width, image.height));
}

void CheckJpeg(Bytes bytes) {
  const auto planes = Decoded(bytes, PixelLayout::kYuv420);
  Require(planes.ok());
  CheckSize(bytes, *planes);
  auto* memory = std::pmr::get_default_resource();
  const auto header = *ParseJpegHeader(bytes);
  const auto fast = DecodeByTurboJpeg(bytes, header, memory);
  const auto general = DecodeByVips(bytes, ImageFormat::kJpeg, kLimits, memory, OnWarning::kAccept);
  if (!fast) return;
  Require(general.ok());
  // Where a progressive file lacks the last bits of its coefficients, each library smooths its
  // blocks in its own way.
  const bool progressive = header.process == 2;
  Require(progressive || general->image.data == fast->data);
}

}  // namespace
}  // namespace lattice

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lattice;
  const std::span bytes(data, size);
  const auto image = Decoded(bytes);
  const auto again = Decoded(bytes);
  Require(image.status().code() == again.status().code());
  Require(image.ok() || image.status().code() != StatusCode::kInternalError);
  if (!image.ok()) return 0;
  Require(image->data == again->data);
  CheckSize(bytes, *image);
  if (SniffFormat(bytes).format == ImageFormat::kJpeg) CheckJpeg(bytes);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  static const auto samples = lattice::samples::OfEveryFormat();
  if (size >= 8 && seed % 256 != 0) return LLVMFuzzerMutate(data, size, max_size);
  return lattice::fuzz::Replace(samples[seed / 256 % samples.size()], data, max_size);
}
