// How a network is quantised, by the nodes of its file.
#ifndef LATTICE_MODEL_QUANTIZATION_H_
#define LATTICE_MODEL_QUANTIZATION_H_

#include "native/model/model_info.h"
#include "native/model/onnx_graph.h"

namespace lattice {

// The type of tensors that are computed; a file that quantises any to signed numbers is kSigned.
Quantization QuantizationOf(const OnnxGraph& graph);

// Whether the network reads its input only rounded to unsigned 8-bit numbers in steps of 1/255. To
// a picture, 0 to 1, this changes nothing: its levels are such numbers.
bool RoundsInputToBytes(const OnnxGraph& graph);

}  // namespace lattice

#endif  // LATTICE_MODEL_QUANTIZATION_H_
