// Removes arithmetic on sizes from a network whose sizes are known.
#ifndef LATTICE_GPU_ONNX_SIZE_FOLDING_H_
#define LATTICE_GPU_ONNX_SIZE_FOLDING_H_

#include <string>

#include "native/base/status.h"
#include "native/gpu_onnx/known_tensors.h"
#include "native/onnx/onnx_graph.h"

namespace lattice {

// Whether a node computes the size of a tensor: exports with fixed sides have no such node.
bool ReckonsWithSizes(const OnnxModel& model);

// An ONNX file of the same network in which constants replace the nodes whose results are `known`:
// integers, and everything computed from a size, such as the anchors' positions. Numbers that are
// computed from weights only stay as they are, in particular quantised ones. Where the target of a
// Reshape is unknown and all sides of its result but one are known, the target becomes those sides,
// with -1 for the unknown one: so an open batch needs no arithmetic. Nodes that are no longer read
// are removed; the others keep their order and names.
//
// `known` must hold for every input that the network will run with. A network with branches or
// loops is returned unchanged. kInvalidModel for damaged files. Thread-safe.
Result<std::string> FoldSizes(ByteView onnx, const KnownTensors& known);

}  // namespace lattice

#endif  // LATTICE_GPU_ONNX_SIZE_FOLDING_H_
