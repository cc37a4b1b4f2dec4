// The pixels that a letterbox samples of planes that are stored a quarter turned (EXIF orientation
// 5 to 8): a small upright picture instead of a large turned one.
#ifndef LATTICE_PREPROCESS_TURNED_LEVELS_H_
#define LATTICE_PREPROCESS_TURNED_LEVELS_H_

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "native/image/decode.h"

namespace lattice {

// Columns and rows of a picture as it is shown. A column may be there several times in a row.
struct SampledPlaces {
  std::vector<int> columns;
  std::vector<int> rows;
};

// Levels (R, G, B, 0) at every sampled column of every sampled row, in memory of the source's kind.
class TurnedLevels {
 public:
  TurnedLevels(const Image& source, const SampledPlaces& sampled);

  // The row of `sampled.rows[index]`; row_bytes() of it may be read.
  const uint8_t* Row(size_t index) const { return levels_.data() + index * row_bytes_; }
  size_t row_bytes() const { return row_bytes_; }

 private:
  size_t row_bytes_;
  std::pmr::vector<uint8_t> levels_;
};

}  // namespace lattice

#endif  // LATTICE_PREPROCESS_TURNED_LEVELS_H_
