// The smaller inputs of a model: a picture that is no square then costs less.
#ifndef LATTICE_CPU_RECTANGLES_H_
#define LATTICE_CPU_RECTANGLES_H_

#include <vector>

#include "native/model/input_size.h"
#include "native/model/model_info.h"

namespace lattice {

// Each once, the smallest first.
std::vector<InputSize> SmallestFirst(const std::vector<InputSize>& sizes);

// The inputs, the smallest first, that a model with any_rectangle uses: one for each usual shape of
// pictures. Each that is used takes memory, so they are few; the odd shapes between them compute
// more than they need.
std::vector<InputSize> UsualRectangles(const ModelInfo& info);

}  // namespace lattice

#endif  // LATTICE_CPU_RECTANGLES_H_
