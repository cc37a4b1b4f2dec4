// Says what samples a TIFF has, before a decoder sees them.
#ifndef LATTICE_IMAGE_TIFF_KIND_H_
#define LATTICE_IMAGE_TIFF_KIND_H_

#include <cstdint>
#include <optional>
#include <span>

#include "native/base/status.h"

namespace lattice {

// kUnsupportedImageFormat, naming what it is, for a kind that libvips cannot read or whose bands it
// hands out as if they were red, green and blue. BigTIFF is not looked into. Thread-safe.
Status CheckTiffKind(std::span<const uint8_t> bytes);

// The samples of black and of white.
struct SampleRange {
  double low = 0;
  double high = 1;
};

// The range that the tags SMinSampleValue and SMaxSampleValue give; nullopt where one is missing or
// they make no range.
std::optional<SampleRange> TiffSampleRange(std::span<const uint8_t> bytes);

}  // namespace lattice

#endif  // LATTICE_IMAGE_TIFF_KIND_H_
