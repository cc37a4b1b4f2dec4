// The loops of the CPU letterbox, in the widest instructions that this machine has.
// Rows between them hold four values per pixel (R, G, B, unused): they load, blend and split into
// planes cheaply.
#ifndef LATTICE_LETTERBOX_LETTERBOX_ROWS_H_
#define LATTICE_LETTERBOX_LETTERBOX_ROWS_H_

#include <cstdint>
#include <type_traits>

#include "native/letterbox/letterbox_sample.h"

namespace lattice {

// The source of each target column. `count` entries each.
struct ColumnTaps {
  const int32_t* first_byte;  // of the left neighbour
  const int32_t* weights;     // low half: weight of the left neighbour, high half: of the right one
  int count;
  int wide_count;     // of these the first ones may read 8 bytes at first_byte
  int32_t last_byte;  // of the last source pixel: where the right neighbour stops
};

// A level as the network input holds it: a float, 0 to 1, or a byte, 0 to 255.
template <typename Value>
Value InputNumber(int level) {
  if constexpr (std::is_same_v<Value, float>) {
    return Normalised(level);
  } else {
    return static_cast<Value>(level);
  }
}

// A row of each plane of the network input.
template <typename Value>
struct PlaneRows {
  Value* red;
  Value* green;
  Value* blue;
};

template <typename Value>
struct PlaneSplits {
  // Levels -> three rows.
  void (*levels)(const uint8_t* levels, int pixels, PlaneRows<Value> out);
  // RGB without padding -> three rows. May read up to `readable` bytes of `rgb`.
  void (*rgb)(const uint8_t* rgb, int64_t readable, int pixels, PlaneRows<Value> out);
};

// Every function gives the same bits on every machine; the arithmetic is that of
// letterbox_sample.h.
struct LetterboxRows {
  // One RGB source row -> `taps.count` pixels of BlendColumns values.
  void (*blend_columns)(const uint8_t* source, const ColumnTaps& taps, int16_t* out);
  // The same from a row of levels.
  void (*blend_level_columns)(const uint8_t* levels, const ColumnTaps& taps, int16_t* out);
  // Two such rows, `pixels` long -> levels.
  void (*blend_rows)(const int16_t* upper, const int16_t* lower, int weight0, int weight1,
                     int pixels, uint8_t* out);
  PlaneSplits<float> to_floats;
  PlaneSplits<uint8_t> to_bytes;

  template <typename Value>
  const PlaneSplits<Value>& SplitTo() const {
    if constexpr (std::is_same_v<Value, float>) {
      return to_floats;
    } else {
      return to_bytes;
    }
  }
};

// The best set for this machine; chosen once, thread-safe.
const LetterboxRows& BestLetterboxRows();
// The set without any special instructions: what tests compare the others with.
const LetterboxRows& PlainLetterboxRows();

}  // namespace lattice

#endif  // LATTICE_LETTERBOX_LETTERBOX_ROWS_H_
