// What is known of the tensors of an ONNX graph before it runs: types and constants.
#ifndef LATTICE_GPU_ONNX_GRAPH_TYPES_H_
#define LATTICE_GPU_ONNX_GRAPH_TYPES_H_

#include <cstdint>
#include <string>
#include <unordered_map>

#include "native/base/status.h"
#include "native/onnx/onnx_graph.h"

namespace lattice {

// kInvalidModel with this sentence.
Status InvalidModel(std::string sentence);

// "The node 'NAME' (OP)", long names cut.
std::string NodeText(const OnnxNode& node);

// Element type by tensor name.
using GraphTypes = std::unordered_map<std::string, int32_t>;

// Follows the types from the inputs through all nodes. kInvalidModel names the first operator whose
// types are not known here, the first tensor read before anything makes it (nodes must be in
// order), a name made twice, or an input that is no tensor.
Result<GraphTypes> InferTypes(const OnnxModel& model);

// Constants by tensor name: initializers, and what Constant nodes hold (scalar and list attributes
// of integers, which no rule here needs, are left out). The tensors refer to the model's bytes.
using GraphConstants = std::unordered_map<std::string, OnnxTensor>;
Result<GraphConstants> CollectConstants(const OnnxModel& model);

}  // namespace lattice

#endif  // LATTICE_GPU_ONNX_GRAPH_TYPES_H_
