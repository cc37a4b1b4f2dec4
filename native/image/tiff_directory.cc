#include "native/image/tiff_directory.h"

#include "native/base/bit_cast.h"
#include "native/image/tiff_reader.h"

namespace lattice {

std::optional<uint32_t> FirstDirectoryValue(std::span<const uint8_t> block, uint32_t tag) {
  const auto tiff = TiffReader::Open(block);
  const auto entry = tiff ? tiff->Find(tiff->first_directory(), tag) : std::nullopt;
  if (!entry) return std::nullopt;
  if (entry->type == kTiffShort) return tiff->U16(entry->at);
  if (entry->type == kTiffLong) return tiff->U32(entry->at);
  return std::nullopt;
}

std::optional<double> FirstDirectoryNumber(std::span<const uint8_t> block, uint32_t tag) {
  const auto tiff = TiffReader::Open(block);
  const auto entry = tiff ? tiff->Find(tiff->first_directory(), tag) : std::nullopt;
  if (!entry) return std::nullopt;
  const size_t at = entry->at;
  switch (entry->type) {
    case kTiffByte:
      return tiff->U8(at);
    case kTiffSignedByte:
      return static_cast<int8_t>(tiff->U8(at));
    case kTiffShort:
      return tiff->U16(at);
    case kTiffSignedShort:
      return static_cast<int16_t>(tiff->U16(at));
    case kTiffLong:
      return tiff->U32(at);
    case kTiffSignedLong:
      return static_cast<int32_t>(tiff->U32(at));
    case kTiffFloat:
      return BitCast<float>(tiff->U32(at));
    case kTiffDouble: {
      const uint64_t first = tiff->U32(at);
      const uint64_t second = tiff->U32(at + 4);
      return BitCast<double>(tiff->little() ? second << 32 | first : first << 32 | second);
    }
    default:
      return std::nullopt;
  }
}

}  // namespace lattice
