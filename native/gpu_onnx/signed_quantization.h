// Rewrites explicit quantisation into the only kind that TensorRT takes: int8 about 0.
#ifndef LATTICE_GPU_ONNX_SIGNED_QUANTIZATION_H_
#define LATTICE_GPU_ONNX_SIGNED_QUANTIZATION_H_

#include "native/base/status.h"
#include "native/onnx/onnx_graph.h"

namespace lattice {

// Changes QuantizeLinear and DequantizeLinear nodes, the numbers that the network computes stay
// exactly the same:
// - uint8 about 128 becomes int8 about 0: other zero points, and uint8 constants less 128;
// - an int32 bias and its DequantizeLinear become the FP32 bias that they stand for (TensorRT
//   dequantises 8-bit numbers only);
// - the opset becomes 19, the first whose scales may be FP16, where every operator of the graph
//   means the same there.
// A model without such nodes is left alone. kInvalidModel for other zero points or types, computed
// zero points, and quantised tensors that anything but a DequantizeLinear reads.
Status MakeQuantizationSigned(OnnxModel& model);

}  // namespace lattice

#endif  // LATTICE_GPU_ONNX_SIGNED_QUANTIZATION_H_
