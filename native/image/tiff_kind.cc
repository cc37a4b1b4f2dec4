#include "native/image/tiff_kind.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "native/image/tiff_directory.h"

namespace lattice {
namespace {

constexpr uint32_t kBitsPerSample = 258;
constexpr uint32_t kPlanarConfiguration = 284;
constexpr uint32_t kTileWidth = 322;
constexpr uint32_t kSampleFormat = 339;
constexpr uint32_t kLowestSample = 340;
constexpr uint32_t kHighestSample = 341;

struct Named {
  uint32_t value;
  std::string_view name;
};

constexpr uint32_t kJpegCompression = 7;
// None, CCITT's three, LZW, JPEG, Deflate under both of its numbers, PackBits.
constexpr uint32_t kReadable[] = {1, 2, 3, 4, 5, kJpegCompression, 8, 32946, 32773};
constexpr Named kCompressions[] = {
    {6, "old-style JPEG"}, {34661, "JBIG"},      {34712, "JPEG 2000"}, {34887, "LERC"},
    {34925, "LZMA"},       {50000, "Zstandard"}, {50001, "WebP"},
};

constexpr uint32_t kYcbcr = 6;
constexpr Named kColours[] = {
    {8, "CIELAB"}, {9, "ICC LAB"}, {10, "ITU LAB"}, {32844, "LogL"}, {32845, "LogLuv"},
};

Status UnsupportedTiff(const std::string& what) {
  return {StatusCode::kUnsupportedImageFormat, "the TIFF " + what + ", which is not supported"};
}

template <size_t kSize>
const Named* Find(const Named (&named)[kSize], uint32_t value) {
  const auto* found = std::find_if(std::begin(named), std::end(named),
                                   [&](const Named& each) { return each.value == value; });
  return found == std::end(named) ? nullptr : found;
}

Status CheckCompression(uint32_t compression) {
  if (std::find(std::begin(kReadable), std::end(kReadable), compression) != std::end(kReadable)) {
    return {};
  }
  const Named* known = Find(kCompressions, compression);
  return UnsupportedTiff("has the compression " + (known
                                                       ? std::string(known->name)
                                                       : "number " + std::to_string(compression)));
}

Status CheckBits(uint32_t bits, bool is_float) {
  const bool whole =
      bits == 1 || bits == 2 || bits == 4 || bits == 8 || bits == 16 || bits == 32 || bits == 64;
  if (whole && !(is_float && bits < 32)) return {};
  return UnsupportedTiff("has " + std::to_string(bits) + " bits a sample" +
                         (is_float ? " as a float" : ""));
}

}  // namespace

Status CheckTiffKind(std::span<const uint8_t> bytes) {
  constexpr uint32_t kFloat = 3;
  const auto value = [&](uint32_t tag, uint32_t otherwise) {
    return FirstDirectoryValue(bytes, tag).value_or(otherwise);
  };
  const uint32_t compression = value(kTiffCompression, 1);
  if (Status checked = CheckCompression(compression); !checked.ok()) return checked;
  const Status bits = CheckBits(value(kBitsPerSample, 1), value(kSampleFormat, 1) == kFloat);
  if (!bits.ok()) return bits;
  const uint32_t photometric = value(kTiffPhotometric, 0);
  if (const Named* colours = Find(kColours, photometric)) {
    return UnsupportedTiff("has colours in " + std::string(colours->name));
  }
  if (photometric == kYcbcr && compression != kJpegCompression) {
    return UnsupportedTiff("has colours in YCbCr without JPEG compression");
  }
  if (value(kPlanarConfiguration, 1) == 2 && FirstDirectoryValue(bytes, kTileWidth)) {
    return UnsupportedTiff("has tiles of one colour each");
  }
  return {};
}

std::optional<SampleRange> TiffSampleRange(std::span<const uint8_t> bytes) {
  const auto low = FirstDirectoryNumber(bytes, kLowestSample);
  const auto high = FirstDirectoryNumber(bytes, kHighestSample);
  if (!low || !high || !(*low < *high)) return std::nullopt;
  return SampleRange{*low, *high};
}

}  // namespace lattice
