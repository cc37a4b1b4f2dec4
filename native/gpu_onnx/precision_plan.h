// Decides which nodes of a detector compute in half precision.
#ifndef LATTICE_GPU_ONNX_PRECISION_PLAN_H_
#define LATTICE_GPU_ONNX_PRECISION_PLAN_H_

#include <vector>

#include "native/base/status.h"
#include "native/gpu_onnx/graph_types.h"
#include "native/onnx/onnx_graph.h"

namespace lattice {

// The type that each node's floating tensors get: kFloat16, or kFloat for
// - the box decode: everything reached backwards from the outputs without passing a convolution of
//   more than one output channel (boxes of a 640-pixel input need more than 11 bits);
// - arithmetic on sizes, which costs no time and which FP16 rounds from 2,049 on;
// - an operator that does not take FP16 in the model's opset;
// - a node with a constant that FP16 cannot hold: beyond 65,504, or with all values
//   rounded to zero, or a quantisation scale with one value rounded to zero.
// The entry has no meaning for nodes without floating tensors and for Constant nodes. kInvalidModel
// for a damaged constant.
Result<std::vector<ElementType>> PlanPrecisions(const OnnxModel& model,
                                                const GraphConstants& constants);

}  // namespace lattice

#endif  // LATTICE_GPU_ONNX_PRECISION_PLAN_H_
