// Parses an ONNX file.
#ifndef LATTICE_MODEL_ONNX_READER_H_
#define LATTICE_MODEL_ONNX_READER_H_

#include "native/base/status.h"
#include "native/model/onnx_graph.h"
#include "native/model/protobuf_wire.h"

namespace lattice {

// The model refers to `bytes`, which must outlive it. kInvalidModel when the bytes are no complete
// ONNX file, have two graphs, more than a million parts, or tensors in other files.
Result<OnnxModel> ReadOnnxModel(ByteView bytes);

}  // namespace lattice

#endif  // LATTICE_MODEL_ONNX_READER_H_
