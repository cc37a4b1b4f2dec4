// Rows of a picture for the letterbox, whatever its layout and orientation.
#ifndef LATTICE_LETTERBOX_SOURCE_ROWS_H_
#define LATTICE_LETTERBOX_SOURCE_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "native/image/picture_view.h"
#include "native/image/turn.h"
#include "native/letterbox/letterbox.h"
#include "native/letterbox/letterbox_rows.h"
#include "native/letterbox/upright_samples.h"
#include "native/letterbox/yuv_rows.h"

namespace lattice {

// Converts only the rows that are used. Rows are those of the picture as it is shown. One thread at
// a time; what `source` shows must outlive it.
class SourceRows {
 public:
  SourceRows(const PictureView& source, const LetterboxTransform& transform);

  // Row `y`, which the transform samples, blended across: four BlendColumns values for each of the
  // resized pixels.
  void Blend(int y, int16_t* out);
  // Row `y` of an unscaled picture -> three rows of floats or of bytes.
  template <typename Value>
  void Split(int y, PlaneRows<Value> out);

 private:
  // Owns what ColumnTaps points to. Empty for an unscaled picture.
  struct ColumnTable {
    std::vector<int32_t> first_byte;
    std::vector<int32_t> weights;
    ColumnTaps taps;
  };

  void SampleUpright(const LetterboxTransform& transform);
  void FillTable(const LetterboxTransform& transform);
  const uint8_t* RgbRow(int y) const;
  const uint8_t* LevelsRow(int y);

  const PictureView source_;
  const Turn turn_;
  ColumnTable table_;
  // Used for planes that are stored upright: the row converted last.
  YuvRowScratch scratch_;
  std::vector<uint8_t> levels_;
  // Used for planes that are stored turned by a quarter.
  std::optional<UprightSamples> upright_;
  std::vector<size_t> upright_rows_;  // index in `upright_` by row of the picture
};

}  // namespace lattice

#endif  // LATTICE_LETTERBOX_SOURCE_ROWS_H_
