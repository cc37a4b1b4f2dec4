// The few facts of a JPEG that are needed before a decoder sees it.
#ifndef LATTICE_IMAGE_JPEG_HEADER_H_
#define LATTICE_IMAGE_JPEG_HEADER_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace lattice {

struct JpegHeader {
  int width = 0;
  int height = 0;
  int components = 0;
  int precision = 0;  // bits per sample
  int process = 0;    // n of the SOFn marker: 0 baseline, 1 extended, 2 progressive, 3 lossless ...
  int exif_orientation =
      1;          // 1 to 8 of the first EXIF block; 1 when there is none or it is damaged
  int scans = 0;  // counting stops one past kMaxJpegScans
  bool single_scan = false;  // the first scan is the whole picture
  // Samples of the first components: across in the high half of the byte, down in the low one.
  std::array<uint8_t, 3> sampling = {};
  // Three components are R, G, B rather than Y, Cb, Cr, by libjpeg's rules.
  bool rgb_coded = false;
  // The TIFF block of the first EXIF block, a part of the bytes that were read; empty without one.
  std::span<const uint8_t> exif = {};

  bool arithmetic() const { return process > 7; }
};

// A progressive file may ask for any number of passes over the whole picture; photos have about
// ten.
inline constexpr int kMaxJpegScans = 100;

// Returns nullopt when no frame header is found before the first scan or the end. Reads marker
// segments only, and entropy-coded data only where it has to find further scans. Thread-safe.
std::optional<JpegHeader> ParseJpegHeader(std::span<const uint8_t> bytes);

// The same without `scans`: reads no further than the first scan.
std::optional<JpegHeader> ReadJpegFrame(std::span<const uint8_t> bytes);

}  // namespace lattice

#endif  // LATTICE_IMAGE_JPEG_HEADER_H_
