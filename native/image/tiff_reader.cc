#include "native/image/tiff_reader.h"

#include <array>

namespace lattice {
namespace {

constexpr size_t kHeaderBytes = 8;
constexpr size_t kEntryBytes = 12;
// Bytes of a value of each type; 0 for those that nothing reads.
constexpr std::array<size_t, 13> kTypeBytes = {0, 1, 1, 2, 4, 8, 1, 0, 2, 4, 8, 4, 8};

}  // namespace

std::optional<TiffReader> TiffReader::Open(std::span<const uint8_t> block) {
  if (block.size() < kHeaderBytes) return std::nullopt;
  const bool little = block[0] == 'I' && block[1] == 'I';
  if (!little && (block[0] != 'M' || block[1] != 'M')) return std::nullopt;
  const TiffReader tiff(block, little);
  if (tiff.U16(2) != 42) return std::nullopt;
  return tiff;
}

std::optional<TiffEntry> TiffReader::Find(size_t directory, uint32_t tag) const {
  if (!Holds(directory, 2)) return std::nullopt;
  const size_t entries = U16(directory);
  for (size_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + i * kEntryBytes;
    if (!Holds(entry, kEntryBytes)) break;
    if (U16(entry) != tag) continue;
    const uint32_t type = U16(entry + 2);
    const uint32_t count = U32(entry + 4);
    if (type >= kTypeBytes.size() || kTypeBytes[type] == 0 || count == 0) break;
    // A value that does not fit the entry lies elsewhere.
    const size_t bytes = kTypeBytes[type];
    const size_t at = count > 4 / bytes ? U32(entry + 8) : entry + 8;
    if (!Holds(at, bytes)) break;
    return TiffEntry{type, count, at};
  }
  return std::nullopt;
}

}  // namespace lattice
