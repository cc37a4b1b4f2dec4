#include "native/image/tiff_directory.h"

#include <array>
#include <cstddef>

#include "native/base/bit_cast.h"

namespace lattice {
namespace {

constexpr size_t kHeaderBytes = 8;
constexpr size_t kEntryBytes = 12;

enum Type : uint32_t {
  kByte = 1,
  kShort = 3,
  kLong = 4,
  kSignedByte = 6,
  kSignedShort = 8,
  kSignedLong = 9,
  kFloat = 11,
  kDouble = 12,
};
// Bytes of a number of each type; 0 for texts and fractions.
constexpr std::array<size_t, 13> kTypeBytes = {0, 1, 0, 2, 4, 0, 1, 0, 2, 4, 0, 4, 8};

// Numbers in the byte order that the block names.
struct Reader {
  std::span<const uint8_t> bytes;
  bool little;

  bool Holds(size_t at, size_t count) const {
    return at <= bytes.size() && count <= bytes.size() - at;
  }
  uint32_t U16(size_t at) const {
    const uint32_t first = bytes[at];
    const uint32_t second = bytes[at + 1];
    return little ? second << 8 | first : first << 8 | second;
  }
  uint32_t U32(size_t at) const {
    return little ? U16(at + 2) << 16 | U16(at) : U16(at) << 16 | U16(at + 2);
  }
};

struct Entry {
  uint32_t type;
  size_t at;  // of its first number
};

std::optional<Reader> ReaderOf(std::span<const uint8_t> block) {
  if (block.size() < kHeaderBytes) return std::nullopt;
  const bool little = block[0] == 'I' && block[1] == 'I';
  if (!little && (block[0] != 'M' || block[1] != 'M')) return std::nullopt;
  const Reader tiff{block, little};
  if (tiff.U16(2) != 42) return std::nullopt;
  return tiff;
}

std::optional<Entry> FindEntry(const Reader& tiff, uint32_t tag) {
  const size_t directory = tiff.U32(4);
  if (!tiff.Holds(directory, 2)) return std::nullopt;
  const size_t entries = tiff.U16(directory);
  for (size_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + i * kEntryBytes;
    if (!tiff.Holds(entry, kEntryBytes)) break;
    if (tiff.U16(entry) != tag) continue;
    const uint32_t type = tiff.U16(entry + 2);
    const uint32_t count = tiff.U32(entry + 4);
    if (type >= kTypeBytes.size() || kTypeBytes[type] == 0 || count == 0) break;
    // A value that does not fit the entry lies elsewhere.
    const size_t bytes = kTypeBytes[type];
    const size_t at = count > 4 / bytes ? tiff.U32(entry + 8) : entry + 8;
    if (!tiff.Holds(at, bytes)) break;
    return Entry{type, at};
  }
  return std::nullopt;
}

}  // namespace

std::optional<uint32_t> FirstDirectoryValue(std::span<const uint8_t> block, uint32_t tag) {
  const auto tiff = ReaderOf(block);
  const auto entry = tiff ? FindEntry(*tiff, tag) : std::nullopt;
  if (!entry) return std::nullopt;
  if (entry->type == kShort) return tiff->U16(entry->at);
  if (entry->type == kLong) return tiff->U32(entry->at);
  return std::nullopt;
}

std::optional<double> FirstDirectoryNumber(std::span<const uint8_t> block, uint32_t tag) {
  const auto tiff = ReaderOf(block);
  const auto entry = tiff ? FindEntry(*tiff, tag) : std::nullopt;
  if (!entry) return std::nullopt;
  const size_t at = entry->at;
  switch (entry->type) {
    case kByte:
      return block[at];
    case kSignedByte:
      return static_cast<int8_t>(block[at]);
    case kShort:
      return tiff->U16(at);
    case kSignedShort:
      return static_cast<int16_t>(tiff->U16(at));
    case kLong:
      return tiff->U32(at);
    case kSignedLong:
      return static_cast<int32_t>(tiff->U32(at));
    case kFloat:
      return BitCast<float>(tiff->U32(at));
    case kDouble: {
      const uint64_t first = tiff->U32(at);
      const uint64_t second = tiff->U32(at + 4);
      return BitCast<double>(tiff->little ? second << 32 | first : first << 32 | second);
    }
    default:
      return std::nullopt;
  }
}

}  // namespace lattice
