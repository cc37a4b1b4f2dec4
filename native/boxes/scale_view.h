// The outputs of a cut network for one image and one grid, and the box of each cell.
#ifndef LATTICE_BOXES_SCALE_VIEW_H_
#define LATTICE_BOXES_SCALE_VIEW_H_

#include <cstddef>

#include "native/base/host_device.h"
#include "native/boxes/box_math.h"

namespace lattice {

// `Value` converts to float. `bins` and `stride` are those of Head.
template <typename Value>
struct ScaleView {
  const Value* boxes;    // [4 * bins][cells]
  const Value* classes;  // [classes][cells]
  int columns;
  int cells;  // rows * columns

  LATTICE_HOST_DEVICE float Logit(int class_id, int cell) const {
    return static_cast<float>(classes[static_cast<ptrdiff_t>(class_id) * cells + cell]);
  }

  // Returns the lowest class whose score equals the score of `best_class`, the class with the
  // highest logit. Different high logits may give the same score, because it is rounded to a float.
  LATTICE_HOST_DEVICE int LowestEqualClass(int best_class, int cell) const {
    // Above kSaturated, logits far apart may round to one score; below it, only logits within
    // kRounding do.
    constexpr float kSaturated = 8;
    constexpr float kRounding = 0.01f;
    const float best = Logit(best_class, cell);
    const float score = Sigmoid(best);
    const float floor = Smaller(best - kRounding, kSaturated);
    for (int c = 0; c < best_class; ++c) {
      const float logit = Logit(c, cell);
      if (logit >= floor && Sigmoid(logit) == score) return c;
    }
    return best_class;
  }

  LATTICE_HOST_DEVICE float Distance(int bins, int side, int cell) const {
    const Value* first = boxes + static_cast<ptrdiff_t>(side) * bins * cells + cell;
    if (bins == 1) return static_cast<float>(*first);
    float logits[kDflBins];
    LATTICE_UNROLL
    for (int bin = 0; bin < kDflBins; ++bin) {
      logits[bin] = static_cast<float>(first[static_cast<ptrdiff_t>(bin) * cells]);
    }
    return ExpectedDistance(logits);
  }

  LATTICE_HOST_DEVICE Box BoxAt(int bins, int stride, int cell) const {
    const float distances[4] = {Distance(bins, 0, cell), Distance(bins, 1, cell),
                                Distance(bins, 2, cell), Distance(bins, 3, cell)};
    return BoxAround(cell % columns, cell / columns, distances, static_cast<float>(stride));
  }
};

}  // namespace lattice

#endif  // LATTICE_BOXES_SCALE_VIEW_H_
