// The markers between which a JPEG's segments and data lie.
#ifndef LATTICE_IMAGE_JPEG_MARKERS_H_
#define LATTICE_IMAGE_JPEG_MARKERS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace lattice::jpeg {

inline constexpr int kHuffmanTables = 0xC4;
inline constexpr int kFirstRestart = 0xD0;
inline constexpr int kStartOfImage = 0xD8;
inline constexpr int kEndOfImage = 0xD9;
inline constexpr int kStartOfScan = 0xDA;
inline constexpr int kRestartInterval = 0xDD;
inline constexpr int kApp0 = 0xE0;
inline constexpr int kApp1 = 0xE1;
inline constexpr int kApp14 = 0xEE;

inline bool IsFrameHeader(int marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != kHuffmanTables && marker != 0xC8 &&
         marker != 0xCC;
}

inline bool HasNoLength(int marker) {
  return marker == 0x01 || (marker >= kFirstRestart && marker <= kStartOfImage);
}

inline int BigEndian16(std::span<const uint8_t> bytes, size_t at) {
  return bytes[at] << 8 | bytes[at + 1];
}

// Finds the next marker at or after `*at`, as decoders do: whatever is not one is skipped. -1 at
// the end.
inline int NextMarker(std::span<const uint8_t> bytes, size_t* at) {
  while (*at + 1 < bytes.size()) {
    const void* found = std::memchr(bytes.data() + *at, 0xFF, bytes.size() - *at - 1);
    if (found == nullptr) return -1;
    const size_t position = static_cast<size_t>(static_cast<const uint8_t*>(found) - bytes.data());
    const int code = bytes[position + 1];
    *at = position + (code == 0xFF ? 1 : 2);
    if (code != 0x00 && code != 0xFF) return code;
  }
  return -1;
}

// The payload of the segment whose length stands at `*at`, which moves behind it. Nothing where the
// bytes end first.
inline std::optional<std::span<const uint8_t>> NextSegment(std::span<const uint8_t> bytes,
                                                           size_t* at) {
  if (*at + 2 > bytes.size()) return std::nullopt;
  const auto length = static_cast<size_t>(BigEndian16(bytes, *at));
  if (length < 2 || length > bytes.size() - *at) return std::nullopt;
  const auto segment = bytes.subspan(*at + 2, length - 2);
  *at += length;
  return segment;
}

}  // namespace lattice::jpeg

#endif  // LATTICE_IMAGE_JPEG_MARKERS_H_
