// YOLOX, whose exports give the numbers of cells: rewritten into a network whose boxes are read.
#ifndef LATTICE_LAYOUTS_YOLOX_H_
#define LATTICE_LAYOUTS_YOLOX_H_

#include "native/model/model_info.h"
#include "native/model/onnx_graph.h"

namespace lattice {

// Turns a model whose graph ends as the raw exports of YOLOX do into one of the layout kRows:
// pixels come in as RGB from 0 to 1, which the network gets as BGR from 0 to 255; boxes go out as
// centre and size in input pixels, and a score per class, that of the object times that of the
// class. False for every other model, which stays as it is: the end must be, of each of three
// grids, [4 numbers of a convolution, the sigmoid of 1, the sigmoids of `info.names`], joined
// finest grid first, transposed, in float32. Pictures lie in the middle of the input, not at its
// corner as in the training of YOLOX.
bool TurnYoloxIntoRows(ModelInfo info, OnnxModel* model);

}  // namespace lattice

#endif  // LATTICE_LAYOUTS_YOLOX_H_
