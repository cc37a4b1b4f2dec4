// Single numbers of a TIFF block's first directory: a TIFF file's own, or the EXIF of another
// format.
#ifndef LATTICE_IMAGE_TIFF_DIRECTORY_H_
#define LATTICE_IMAGE_TIFF_DIRECTORY_H_

#include <cstdint>
#include <optional>
#include <span>

namespace lattice {

inline constexpr uint32_t kTiffCompression = 259;
inline constexpr uint32_t kTiffPhotometric = 262;
inline constexpr uint32_t kTiffOrientation = 274;

// The first SHORT or LONG of `tag`. Nothing when the block is damaged, BigTIFF or has no such
// entry.
std::optional<uint32_t> FirstDirectoryValue(std::span<const uint8_t> block, uint32_t tag);

// The first number of `tag`, whatever its type. Nothing as above.
std::optional<double> FirstDirectoryNumber(std::span<const uint8_t> block, uint32_t tag);

}  // namespace lattice

#endif  // LATTICE_IMAGE_TIFF_DIRECTORY_H_
