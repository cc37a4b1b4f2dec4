// Entries of the directories of a TIFF block, whatever is damaged in it.
#ifndef LATTICE_IMAGE_TIFF_READER_H_
#define LATTICE_IMAGE_TIFF_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace lattice {

enum TiffType : uint32_t {
  kTiffByte = 1,
  kTiffText = 2,
  kTiffShort = 3,
  kTiffLong = 4,
  kTiffFraction = 5,
  kTiffSignedByte = 6,
  kTiffSignedShort = 8,
  kTiffSignedLong = 9,
  kTiffSignedFraction = 10,
  kTiffFloat = 11,
  kTiffDouble = 12,
};

struct TiffEntry {
  uint32_t type;
  uint32_t count;
  size_t at;  // of its first value, which the block holds
};

// Numbers in the byte order that the block names. The caller asks `Holds` before it reads others
// than the first value of an entry.
class TiffReader {
 public:
  // Nothing when the block is damaged or BigTIFF.
  static std::optional<TiffReader> Open(std::span<const uint8_t> block);

  bool Holds(size_t at, size_t count) const {
    return at <= bytes_.size() && count <= bytes_.size() - at;
  }
  bool little() const { return little_; }
  uint8_t U8(size_t at) const { return bytes_[at]; }
  uint32_t U16(size_t at) const {
    const uint32_t first = bytes_[at];
    const uint32_t second = bytes_[at + 1];
    return little_ ? second << 8 | first : first << 8 | second;
  }
  uint32_t U32(size_t at) const {
    return little_ ? U16(at + 2) << 16 | U16(at) : U16(at) << 16 | U16(at + 2);
  }

  size_t first_directory() const { return U32(4); }
  // The first entry of `tag` in the directory at this place. Nothing where it has none, or one
  // without a value in the block.
  std::optional<TiffEntry> Find(size_t directory, uint32_t tag) const;

 private:
  TiffReader(std::span<const uint8_t> bytes, bool little) : bytes_(bytes), little_(little) {}

  std::span<const uint8_t> bytes_;
  bool little_;
};

}  // namespace lattice

#endif  // LATTICE_IMAGE_TIFF_READER_H_
