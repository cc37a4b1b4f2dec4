// NanoDet-Plus: rewritten into a network whose boxes are read.
#ifndef LATTICE_LAYOUTS_NANODET_H_
#define LATTICE_LAYOUTS_NANODET_H_

#include "native/model/model_info.h"
#include "native/model/onnx_graph.h"

namespace lattice {

// Turns a model whose graph ends as the export of NanoDet-Plus does into one of the layout kRows,
// whose pictures are to be stretched to the input. False for every other model, which stays as it
// is: the end must be, of each of four grids, a convolution of `info.names` and 4 * bins channels,
// the former as sigmoids, joined finest grid first, transposed, in float32. A side of a box is the
// mean of the distances 0 to bins - 1, weighed by the softmax of their logits, from the upper left
// corner of a cell. Pixels come in as RGB from 0 to 1; the network gets them as BGR, less the mean
// and by the standard deviation that all configurations of NanoDet have, which no graph tells.
bool TurnNanodetIntoRows(ModelInfo info, OnnxModel* model);

}  // namespace lattice

#endif  // LATTICE_LAYOUTS_NANODET_H_
