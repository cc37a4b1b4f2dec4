// One floating type for a whole network, for runtimes that take every type from the file.
#ifndef LATTICE_GPU_ONNX_FLOAT_TYPE_H_
#define LATTICE_GPU_ONNX_FLOAT_TYPE_H_

#include "native/base/status.h"
#include "native/model/onnx_graph.h"

namespace lattice {

// Makes all floating tensors FLOAT16 or FLOAT, as `type` says, and the graph's input FLOAT16. Casts
// between the two types go, those of weights too; tensors of other types stay as they are. FLOAT
// remain, with one Cast per tensor and direction:
// - scales and regions of Resize, as ONNX demands;
// - what is computed from integers and constants only: sizes, which FP16 rounds from 2,049 on.
// A finite constant beyond the range of FP16 becomes the largest half. Descriptions of inner
// tensors and constants that no node reads go. The same model gives the same result.
//
// The nodes must be in order (node_order.h). kInvalidModel for an input that is not floating and
// for damaged constants.
Status SetFloatType(OnnxModel& model, ElementType type);

}  // namespace lattice

#endif  // LATTICE_GPU_ONNX_FLOAT_TYPE_H_
