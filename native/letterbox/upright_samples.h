// The pixels that a letterbox samples of planes with EXIF orientation 5 to 8, upright: a small copy
// instead of a turned picture.
#ifndef LATTICE_LETTERBOX_UPRIGHT_SAMPLES_H_
#define LATTICE_LETTERBOX_UPRIGHT_SAMPLES_H_

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "native/image/picture_view.h"

namespace lattice {

// Columns and rows of a picture as it is shown. A column may occur several times in succession.
struct SampledPositions {
  std::vector<int> columns;
  std::vector<int> rows;
};

// Levels (R, G, B, 0) at every sampled column of every sampled row, in memory from the source's
// resource.
class UprightSamples {
 public:
  UprightSamples(const PictureView& source, const SampledPositions& sampled);

  // Levels of the row sampled.rows[index]; row_bytes() bytes may be read.
  const uint8_t* Row(size_t index) const { return levels_.data() + index * row_bytes_; }
  size_t row_bytes() const { return row_bytes_; }

 private:
  size_t row_bytes_;
  ByteBuffer levels_;
};

}  // namespace lattice

#endif  // LATTICE_LETTERBOX_UPRIGHT_SAMPLES_H_
