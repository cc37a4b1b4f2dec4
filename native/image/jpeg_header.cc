#include "native/image/jpeg_header.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "native/image/tiff_directory.h"

namespace lattice {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr int kStartOfImage = 0xD8;
constexpr int kEndOfImage = 0xD9;
constexpr int kStartOfScan = 0xDA;
constexpr int kApp0 = 0xE0;
constexpr int kApp1 = 0xE1;
constexpr int kApp14 = 0xEE;

uint32_t BigEndian16(Bytes bytes, size_t at) {
  return static_cast<uint32_t>(bytes[at]) << 8 | bytes[at + 1];
}

// `segment` is an APP1 payload. 0 when it is no EXIF block, 1 when it is one that names no valid
// value.
int ExifOrientation(Bytes segment) {
  constexpr size_t kPrefix = 6;  // "Exif", NUL, padding
  if (segment.size() < kPrefix || std::memcmp(segment.data(), "Exif\0", 5) != 0) return 0;
  const uint32_t value =
      FirstDirectoryValue(segment.subspan(kPrefix), kTiffOrientation).value_or(1);
  return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
}

// What a file says of its colours, in the order in which libjpeg believes it.
struct ColourMarks {
  bool jfif = false;
  int adobe_transform = -1;  // -1: no such block
  bool rgb_ids = false;      // components are called 'R', 'G', 'B'

  void Read(int marker, Bytes segment) {
    constexpr size_t kTransform = 11;
    if (marker == kApp0 && segment.size() >= 5 && std::memcmp(segment.data(), "JFIF", 5) == 0) {
      jfif = true;
    } else if (marker == kApp14 && segment.size() > kTransform &&
               std::memcmp(segment.data(), "Adobe", 5) == 0) {
      adobe_transform = segment[kTransform];
    }
  }

  bool rgb() const {
    if (jfif) return false;
    return adobe_transform >= 0 ? adobe_transform == 0 : rgb_ids;
  }
};

bool IsFrameHeader(int marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

bool HasNoLength(int marker) {
  return marker == 0x01 || (marker >= 0xD0 && marker <= kStartOfImage);
}

// Finds the next marker at or after `*at`, as decoders do: whatever is not one is skipped. -1 at
// the end.
int NextMarker(Bytes bytes, size_t* at) {
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

void ReadFrame(int marker, Bytes segment, JpegHeader* header) {
  header->process = marker - 0xC0;
  header->precision = segment[0];
  header->height = static_cast<int>(BigEndian16(segment, 1));
  header->width = static_cast<int>(BigEndian16(segment, 3));
  header->components = segment[5];
  for (size_t i = 0; i < header->sampling.size() && 7 + 3 * i < segment.size(); ++i) {
    header->sampling[i] = segment[7 + 3 * i];
  }
}

bool NamesRgb(Bytes frame) {
  return frame.size() > 12 && frame[6] == 'R' && frame[9] == 'G' && frame[12] == 'B';
}

std::optional<JpegHeader> ReadSegments(Bytes bytes, bool count_scans) {
  JpegHeader header;
  ColourMarks colours;
  bool have_exif = false;
  bool have_frame = false;
  size_t at = 0;
  if (NextMarker(bytes, &at) != kStartOfImage) return std::nullopt;
  for (int marker = NextMarker(bytes, &at); marker >= 0; marker = NextMarker(bytes, &at)) {
    if (marker == kEndOfImage) break;
    if (HasNoLength(marker)) continue;
    if (at + 2 > bytes.size()) break;
    const size_t length = BigEndian16(bytes, at);
    if (length < 2 || length > bytes.size() - at) break;
    const Bytes segment = bytes.subspan(at + 2, length - 2);
    at += length;
    colours.Read(marker, segment);
    if (marker == kStartOfScan) {
      if (!have_frame) return std::nullopt;
      if (!count_scans) break;
      ++header.scans;
      const bool single_scan =
          header.process != 2 && !segment.empty() && segment[0] == header.components;
      if (single_scan || header.scans > kMaxJpegScans) break;
    } else if (marker == kApp1 && !have_exif) {
      const int orientation = ExifOrientation(segment);
      have_exif = orientation != 0;
      header.exif_orientation = std::max(orientation, 1);
    } else if (IsFrameHeader(marker) && !have_frame && segment.size() >= 6) {
      have_frame = true;
      ReadFrame(marker, segment, &header);
      colours.rgb_ids = NamesRgb(segment);
    }
  }
  if (!have_frame) return std::nullopt;
  header.rgb_coded = header.components == 3 && colours.rgb();
  return header;
}

}  // namespace

std::optional<JpegHeader> ParseJpegHeader(Bytes bytes) { return ReadSegments(bytes, true); }

std::optional<JpegHeader> ReadJpegFrame(Bytes bytes) { return ReadSegments(bytes, false); }

}  // namespace lattice
