// Whether a network itself chooses which of its boxes it gives.
#ifndef LATTICE_MODEL_BOX_CHOICE_H_
#define LATTICE_MODEL_BOX_CHOICE_H_

#include "native/model/onnx_graph.h"

namespace lattice {

// Whether a node finds the best of many rows, TopK or NonMaxSuppression, also in graphs inside
// nodes.
bool ChoosesBoxes(const OnnxGraph& graph);

}  // namespace lattice

#endif  // LATTICE_MODEL_BOX_CHOICE_H_
