// Constants of an ONNX graph, and the words for what is wrong with one.
#ifndef LATTICE_GPU_ONNX_GRAPH_CONSTANTS_H_
#define LATTICE_GPU_ONNX_GRAPH_CONSTANTS_H_

#include <string>
#include <unordered_map>

#include "native/base/status.h"
#include "native/model/onnx_graph.h"

namespace lattice {

// kInvalidModel with this sentence.
Status InvalidModel(std::string sentence);

// "The node 'NAME' (OP)", long names cut.
std::string NodeText(const OnnxNode& node);

// Constants by tensor name: initializers, and what Constant nodes hold (scalar and list attributes
// of integers, which no rule here needs, are left out). The tensors refer to the model's bytes.
using GraphConstants = std::unordered_map<std::string, OnnxTensor>;
Result<GraphConstants> CollectConstants(const OnnxModel& model);

}  // namespace lattice

#endif  // LATTICE_GPU_ONNX_GRAPH_CONSTANTS_H_
