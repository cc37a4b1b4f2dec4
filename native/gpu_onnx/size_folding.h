// Takes arithmetic on sizes out of a network whose sizes are known.
#ifndef LATTICE_GPU_ONNX_SIZE_FOLDING_H_
#define LATTICE_GPU_ONNX_SIZE_FOLDING_H_

#include <string>

#include "native/base/status.h"
#include "native/gpu_onnx/known_tensors.h"
#include "native/onnx/onnx_graph.h"

namespace lattice {

// Whether a node asks for the size of a tensor: exports with fixed sides have none.
bool ReckonsWithSizes(const OnnxModel& model);

// An ONNX file of the same network without the nodes whose results are `known`: integers, and
// whatever follows from a size, such as the anchors' places. Numbers that come from weights alone
// stay as they are, quantised ones above all. A Reshape whose target is not known, but all sides of
// whose result are but one, gets those, with -1 for the one: so a batch that stays open needs no
// arithmetic. What nobody reads any more goes as well; order and names of the others stay.
//
// `known` is to be true of every input that the network will run with. A network with branches or
// loops comes back as it is. kInvalidModel for damaged files. Thread-safe.
Result<std::string> FoldSizes(ByteView onnx, const KnownTensors& known);

}  // namespace lattice

#endif  // LATTICE_GPU_ONNX_SIZE_FOLDING_H_
