// The tensors of a graph by name: which node makes one, and the constants.
#ifndef LATTICE_MODEL_GRAPH_TENSORS_H_
#define LATTICE_MODEL_GRAPH_TENSORS_H_

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "native/model/onnx_graph.h"

namespace lattice {

// Whether the node has this operator of ONNX's own domain, and an input. Returns false for a null
// node.
bool Is(const OnnxNode* node, std::string_view op);

// Refers to the graph, whose nodes and tensors must stay where they are.
class GraphTensors {
 public:
  explicit GraphTensors(const OnnxGraph& graph);

  // The node that makes the tensor; null for inputs, initializers, and names that nothing makes.
  const OnnxNode* MakerOf(std::string_view tensor) const;
  // The node that makes the tensor by this operator; null also when another operator makes it.
  const OnnxNode* MakerOf(std::string_view tensor, std::string_view op) const;
  // The initializer of this name; null for every other tensor.
  const OnnxTensor* ConstantOf(std::string_view tensor) const;
  // The element type that the file states; kNoType when it states none.
  int32_t TypeIn(std::string_view tensor) const;

 private:
  std::unordered_map<std::string_view, const OnnxNode*> makers_;
  std::unordered_map<std::string_view, const OnnxTensor*> constants_;
  std::unordered_map<std::string_view, int32_t> types_;
};

// The only float32 input that is no constant; null when there is none or there are several. Inputs
// of other types do not count.
const OnnxValueInfo* FloatInputOf(const OnnxGraph& graph, const GraphTensors& tensors);

}  // namespace lattice

#endif  // LATTICE_MODEL_GRAPH_TENSORS_H_
