#include "native/image/picture_position.h"

#include <cstddef>
#include <cstring>
#include <string_view>

#include "native/image/tiff_reader.h"

namespace lattice {
namespace {

using Bytes = std::span<const uint8_t>;
using std::string_view_literals::operator""sv;

constexpr uint32_t kGpsDirectory = 0x8825;
// The tag before each has the letter of its side.
constexpr uint32_t kLatitude = 2;
constexpr uint32_t kLongitude = 4;

// Chunks that are looked through: EXIF comes before the pixels, or behind few chunks of them.
constexpr int kMostChunks = 64;
constexpr auto kJpegPrefix = "Exif\0\0"sv;

bool StartsWith(Bytes bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

// Some writers put the prefix of a JPEG's block into a chunk.
Bytes WithoutPrefix(Bytes block) {
  return StartsWith(block, kJpegPrefix) ? block.subspan(kJpegPrefix.size()) : block;
}

uint32_t LengthAt(Bytes bytes, size_t at, bool little) {
  uint32_t length = 0;
  for (size_t i = 0; i < 4; ++i) length = length << 8 | bytes[at + (little ? 3 - i : i)];
  return length;
}

Bytes ExifOfPng(Bytes bytes) {
  size_t at = 8;
  for (int i = 0; i < kMostChunks && bytes.size() >= at + 8; ++i) {
    const size_t length = LengthAt(bytes, at, false);
    if (length > bytes.size() - at - 8) break;
    if (StartsWith(bytes.subspan(at + 4), "eXIf")) return bytes.subspan(at + 8, length);
    at += 12 + length;
  }
  return {};
}

Bytes ExifOfWebp(Bytes bytes) {
  size_t at = 12;
  for (int i = 0; i < kMostChunks && bytes.size() >= at + 8; ++i) {
    const size_t length = LengthAt(bytes, at + 4, true);
    if (length > bytes.size() - at - 8) break;
    if (StartsWith(bytes.subspan(at), "EXIF")) return bytes.subspan(at + 8, length);
    at += 8 + length + length % 2;
  }
  return {};
}

Bytes ExifOf(const EncodedImage& encoded) {
  switch (encoded.format) {
    case ImageFormat::kJpeg:
      return encoded.jpeg.exif;
    case ImageFormat::kPng:
      return WithoutPrefix(ExifOfPng(encoded.bytes));
    case ImageFormat::kWebp:
      return WithoutPrefix(ExifOfWebp(encoded.bytes));
    case ImageFormat::kTiff:
      return encoded.bytes;
    default:
      return {};
  }
}

// Degrees, minutes and seconds as fractions. Fractions of the signed type are read too: a negative
// one is out of range.
std::optional<double> Degrees(const TiffReader& tiff, size_t gps, uint32_t tag) {
  constexpr size_t kFractionBytes = 8;
  constexpr size_t kParts = 3;
  const auto entry = tiff.Find(gps, tag);
  if (!entry || entry->count < kParts || !tiff.Holds(entry->at, kParts * kFractionBytes) ||
      (entry->type != kTiffFraction && entry->type != kTiffSignedFraction)) {
    return std::nullopt;
  }
  double degrees = 0;
  double part = 1;
  for (size_t i = 0; i < kParts; ++i, part /= 60) {
    const size_t at = entry->at + i * kFractionBytes;
    const uint32_t below = tiff.U32(at + 4);
    if (below == 0) return std::nullopt;
    const double number = static_cast<double>(tiff.U32(at)) / below;
    // Seconds are rounded up to 60 by some writers.
    if (i > 0 && number > 60) return std::nullopt;
    degrees += number * part;
  }
  return degrees;
}

// `letters`: of the positive and of the negative side. Nothing without one of them, because the
// side is not known then.
std::optional<double> Coordinate(const TiffReader& tiff, size_t gps, uint32_t tag,
                                 std::string_view letters, double most) {
  const auto side = tiff.Find(gps, tag - 1);
  if (!side || side->type != kTiffText) return std::nullopt;
  const char letter = static_cast<char>(tiff.U8(side->at));
  const size_t found = letters.find(letter);
  const auto degrees = Degrees(tiff, gps, tag);
  if (found == std::string_view::npos || !degrees || *degrees > most) return std::nullopt;
  return found == 0 ? *degrees : -*degrees;
}

}  // namespace

std::optional<PicturePosition> PositionOfExif(Bytes block) {
  const auto tiff = TiffReader::Open(block);
  if (!tiff) return std::nullopt;
  const auto pointer = tiff->Find(tiff->first_directory(), kGpsDirectory);
  if (!pointer || pointer->type != kTiffLong) return std::nullopt;
  const size_t gps = tiff->U32(pointer->at);
  const auto latitude = Coordinate(*tiff, gps, kLatitude, "NS", 90);
  const auto longitude = Coordinate(*tiff, gps, kLongitude, "EW", 180);
  if (!latitude || !longitude || (*latitude == 0 && *longitude == 0)) return std::nullopt;
  return PicturePosition{*latitude, *longitude};
}

std::optional<PicturePosition> ReadPosition(const EncodedImage& encoded) {
  const Bytes exif = ExifOf(encoded);
  return exif.empty() ? std::nullopt : PositionOfExif(exif);
}

}  // namespace lattice
