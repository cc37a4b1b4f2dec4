// How the outputs of a network hold its boxes.
#ifndef LATTICE_MODEL_HEAD_H_
#define LATTICE_MODEL_HEAD_H_

#include <array>
#include <cstddef>

namespace lattice {

enum class HeadLayout {
  // The network was cut at its head (detection_head.h): for each of three grids [4 * bins, rows,
  // columns] and [classes, rows, columns], before softmax and sigmoid.
  kScales,
  // [4 + classes, anchors]: cx, cy, w, h in input pixels, then scores.
  kRows,
  // [rows, 6]: x1, y1, x2, y2 in input pixels, score, class. The network suppresses by itself and
  // fills up with rows of score 0.
  kFinal,
};

inline constexpr size_t kHeadScales = 3;

struct Head {
  HeadLayout layout = HeadLayout::kRows;
  int classes = 0;

  // Used for kScales only:
  int bins = 0;                               // 16, or 1: the numbers are the distances themselves
  std::array<int, kHeadScales> strides = {};  // input pixels of a cell
  // The network is trained to find each object once: every class of an anchor that passes is a box,
  // and no box suppresses another.
  bool one_to_one = false;
};

}  // namespace lattice

#endif  // LATTICE_MODEL_HEAD_H_
