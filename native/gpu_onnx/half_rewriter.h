// Gives a planned graph its new types.
#ifndef LATTICE_GPU_ONNX_HALF_REWRITER_H_
#define LATTICE_GPU_ONNX_HALF_REWRITER_H_

#include <vector>

#include "native/base/status.h"
#include "native/gpu_onnx/graph_types.h"
#include "native/onnx/onnx_graph.h"

namespace lattice {

// Makes the model's input FLOAT16, its outputs FLOAT and every node compute in its type of `plan`
// (one entry per node): converts constants, inserts Casts, drops unused constants, and brings the
// tensor descriptions up to date. `types` and `constants` are those of the model, whose bytes must
// outlive it. kInvalidModel for a damaged constant.
Status ApplyPrecisions(OnnxModel& model, const std::vector<ElementType>& plan,
                       const GraphTypes& types, const GraphConstants& constants);

}  // namespace lattice

#endif  // LATTICE_GPU_ONNX_HALF_REWRITER_H_
