// Rewrites explicit quantisation into the only kind that TensorRT takes: int8 with zero point 0.
#ifndef LATTICE_GPU_ONNX_SIGNED_QUANTIZATION_H_
#define LATTICE_GPU_ONNX_SIGNED_QUANTIZATION_H_

#include <cstdint>

#include "native/base/status.h"
#include "native/model/onnx_graph.h"

namespace lattice {

// The first opset in which the scales of quantisation may be FP16.
inline constexpr int64_t kHalfScalesOpset = 19;

// Changes QuantizeLinear and DequantizeLinear nodes; the numbers that the network computes stay
// exactly the same:
// - uint8 with zero point 128 becomes int8 with zero point 0, uint8 constants minus 128;
// - an int32 bias and its DequantizeLinear become the FP32 bias (TensorRT dequantises 8-bit numbers
//   only);
// - the opset becomes 19, the first whose scales may be FP16, where every operator of the graph has
//   the same meaning there.
// The nodes must be in order (node_order.h). A model without such nodes is not changed.
// kInvalidModel for other zero points or types, computed zero points, and quantised tensors that a
// node other than DequantizeLinear reads.
Status MakeQuantizationSigned(OnnxModel& model);

}  // namespace lattice

#endif  // LATTICE_GPU_ONNX_SIGNED_QUANTIZATION_H_
