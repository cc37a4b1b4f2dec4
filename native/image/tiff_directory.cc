#include "native/image/tiff_directory.h"

#include <cstddef>

namespace lattice {
namespace {

constexpr size_t kHeaderBytes = 8;
constexpr size_t kEntryBytes = 12;
constexpr uint32_t kShortType = 3;
constexpr uint32_t kLongType = 4;

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

}  // namespace

std::optional<uint32_t> FirstDirectoryValue(std::span<const uint8_t> block, uint32_t tag) {
  if (block.size() < kHeaderBytes) return std::nullopt;
  const bool little = block[0] == 'I' && block[1] == 'I';
  if (!little && (block[0] != 'M' || block[1] != 'M')) return std::nullopt;
  const Reader tiff{block, little};
  if (tiff.U16(2) != 42) return std::nullopt;
  const size_t directory = tiff.U32(4);
  if (!tiff.Holds(directory, 2)) return std::nullopt;
  const size_t entries = tiff.U16(directory);
  for (size_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + i * kEntryBytes;
    if (!tiff.Holds(entry, kEntryBytes)) break;
    if (tiff.U16(entry) != tag) continue;
    const uint32_t type = tiff.U16(entry + 2);
    // Two shorts or one long fit the entry itself; more of them lie elsewhere.
    const uint32_t count = tiff.U32(entry + 4);
    if (type == kShortType && count >= 1 && count <= 2) return tiff.U16(entry + 8);
    if (type == kLongType && count == 1) return tiff.U32(entry + 8);
    break;
  }
  return std::nullopt;
}

}  // namespace lattice
