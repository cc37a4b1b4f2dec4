// A row of a JPEG's 4:2:0 planes -> levels of four bytes per pixel (R, G, B, 0), in the widest
// instructions that this machine has.
#ifndef LATTICE_LETTERBOX_YUV_ROWS_H_
#define LATTICE_LETTERBOX_YUV_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/letterbox/yuv_sample.h"

namespace lattice {

inline constexpr int kYuvBlock = 32;  // pixels that are converted at once

// A converted row takes whole blocks. Bytes after its last pixel are unspecified.
inline size_t YuvRowBytes(int width) {
  return size_t{4} * static_cast<size_t>((width + kYuvBlock - 1) / kYuvBlock * kYuvBlock);
}

// Chroma of a row, interpolated down: one sum per column, those of the edges once more on both
// sides.
class YuvRowScratch {
 public:
  explicit YuvRowScratch(int width)
      : stride_(static_cast<size_t>(ChromaSize(width) + 2 * kYuvBlock)), sums_(2 * stride_) {}

  int16_t* cb() { return sums_.data() + kYuvBlock / 2; }
  int16_t* cr() { return cb() + stride_; }

 private:
  size_t stride_;
  std::vector<int16_t> sums_;
};

// The same bits on every machine: those of YuvRow::At.
struct YuvRows {
  // `scratch` was made for this width; `out` holds YuvRowBytes.
  void (*convert)(const YuvRow& row, int width, YuvRowScratch& scratch, uint8_t* out);
  bool fast;  // takes less time per row than a decoder saves by leaving it in planes
};

// The best for this machine; chosen once, thread-safe.
const YuvRows& BestYuvRows();
// The rows without special instructions, with which tests compare the others.
const YuvRows& PlainYuvRows();

}  // namespace lattice

#endif  // LATTICE_LETTERBOX_YUV_ROWS_H_
