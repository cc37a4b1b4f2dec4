#include "native/image/jpeg_header.h"

#include <cstddef>
#include <cstring>

#include "native/image/jpeg_markers.h"
#include "native/image/tiff_directory.h"

namespace lattice {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr size_t kExifPrefix = 6;  // "Exif", NUL, padding

// `segment` is an APP1 payload.
bool IsExif(Bytes segment) {
  return segment.size() >= kExifPrefix && std::memcmp(segment.data(), "Exif\0", 5) == 0;
}

// 1 where the block names no valid value.
int OrientationOf(Bytes exif) {
  const uint32_t value = FirstDirectoryValue(exif, kTiffOrientation).value_or(1);
  return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
}

// All that a file says of its colours, in the order in which libjpeg believes it.
struct ColourMarks {
  bool jfif = false;
  int adobe_transform = -1;  // -1: no such block
  bool rgb_ids = false;      // components are called 'R', 'G', 'B'

  void Read(int marker, Bytes segment) {
    constexpr size_t kTransform = 11;
    if (marker == jpeg::kApp0 && segment.size() >= 5 &&
        std::memcmp(segment.data(), "JFIF", 5) == 0) {
      jfif = true;
    } else if (marker == jpeg::kApp14 && segment.size() > kTransform &&
               std::memcmp(segment.data(), "Adobe", 5) == 0) {
      adobe_transform = segment[kTransform];
    }
  }

  bool rgb() const {
    if (jfif) return false;
    return adobe_transform >= 0 ? adobe_transform == 0 : rgb_ids;
  }
};

void ReadFrame(int marker, Bytes segment, JpegHeader* header) {
  header->process = marker - 0xC0;
  header->precision = segment[0];
  header->height = jpeg::BigEndian16(segment, 1);
  header->width = jpeg::BigEndian16(segment, 3);
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
  if (jpeg::NextMarker(bytes, &at) != jpeg::kStartOfImage) return std::nullopt;
  for (int marker = jpeg::NextMarker(bytes, &at); marker >= 0;
       marker = jpeg::NextMarker(bytes, &at)) {
    if (marker == jpeg::kEndOfImage) break;
    if (jpeg::HasNoLength(marker)) continue;
    const auto next = jpeg::NextSegment(bytes, &at);
    if (!next) break;
    const Bytes segment = *next;
    colours.Read(marker, segment);
    if (marker == jpeg::kStartOfScan) {
      if (!have_frame) return std::nullopt;
      if (!count_scans) break;
      ++header.scans;
      header.single_scan =
          header.process != 2 && !segment.empty() && segment[0] == header.components;
      if (header.single_scan || header.scans > kMaxJpegScans) break;
    } else if (marker == jpeg::kApp1 && !have_exif && IsExif(segment)) {
      have_exif = true;
      header.exif = segment.subspan(kExifPrefix);
      header.exif_orientation = OrientationOf(header.exif);
    } else if (jpeg::IsFrameHeader(marker) && !have_frame && segment.size() >= 6) {
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
