// The facts that are read from a picture's bytes before a decoder sees them.
#include "native/image/image_format.h"
#include "native/image/jpeg_header.h"
#include "native/image/picture_position.h"
#include "native/image/tiff_directory.h"
#include "native/image/tiff_kind.h"
#include "test/native/fuzz/fuzz.h"

namespace lattice {
namespace {

void CheckJpeg(std::span<const uint8_t> bytes) {
  const auto whole = ParseJpegHeader(bytes);
  const auto frame = ReadJpegFrame(bytes);
  fuzz::Require(whole.has_value() == frame.has_value());
  if (!whole) return;
  fuzz::Require(whole->width == frame->width && whole->height == frame->height);
  fuzz::Require(whole->exif_orientation >= 1 && whole->exif_orientation <= 8);
  fuzz::Require(whole->scans <= kMaxJpegScans + 1);
}

void CheckPosition(const std::optional<PicturePosition>& position) {
  if (!position) return;
  // Written so that a NaN fails too.
  fuzz::Require(position->latitude >= -90 && position->latitude <= 90);
  fuzz::Require(position->longitude >= -180 && position->longitude <= 180);
}

}  // namespace
}  // namespace lattice

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span bytes(data, size);
  lattice::fuzz::Require(!lattice::SniffFormat(bytes).name.empty());
  lattice::CheckJpeg(bytes);
  (void)lattice::FirstDirectoryValue(bytes, lattice::kTiffOrientation);
  lattice::CheckPosition(lattice::PositionOfExif(bytes));
  lattice::CheckPosition(lattice::ReadPosition(lattice::DescribeEncoded(bytes)));
  (void)lattice::CheckTiffKind(bytes).ok();
  (void)lattice::TiffSampleRange(bytes);
  return 0;
}
