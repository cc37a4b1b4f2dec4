// Rows of a picture on their way into the letterbox, whatever layout it has.
#ifndef LATTICE_PREPROCESS_SOURCE_ROWS_H_
#define LATTICE_PREPROCESS_SOURCE_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/image/decode.h"
#include "native/preprocess/letterbox_rows.h"
#include "native/preprocess/yuv_rows.h"

namespace lattice {

// Only rows that are asked for are touched. One thread at a time; `source` must outlive it.
class SourceRows {
 public:
  // `resized_width` is what Blend gives; 0 where it is not called.
  SourceRows(const Image& source, int resized_width);

  // Source row `y` blended across: four BlendColumns values for each of the resized pixels.
  void Blend(int y, int16_t* out);
  // Source row `y` as it is -> three rows of floats.
  void Split(int y, float* red, float* green, float* blue);

 private:
  // Owns what ColumnTaps points to.
  struct ColumnTable {
    // Rows of `step` bytes a pixel, `readable` bytes long.
    ColumnTable(int source_width, int resized_width, int step, int readable);

    std::vector<int32_t> first_byte;
    std::vector<int32_t> weights;
    ColumnTaps taps;
  };

  const uint8_t* LevelsOf(int y);

  const Image& source_;
  const PackedPlanes planes_;
  const ColumnTable table_;
  YuvRowScratch scratch_;        // empty for RGB, as
  std::vector<uint8_t> levels_;  // the row that was converted last, and room behind it
};

}  // namespace lattice

#endif  // LATTICE_PREPROCESS_SOURCE_ROWS_H_
