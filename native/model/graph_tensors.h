// The tensors of a graph by name: which node makes one, and the constants.
#ifndef LATTICE_MODEL_GRAPH_TENSORS_H_
#define LATTICE_MODEL_GRAPH_TENSORS_H_

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "native/model/onnx_graph.h"

namespace lattice {

// Whether it is a node of this operator of ONNX's own, with an input. Null is none.
bool Is(const OnnxNode* node, std::string_view op);

// Refers to the graph, whose nodes and tensors must stay where they are.
class GraphTensors {
 public:
  explicit GraphTensors(const OnnxGraph& graph);

  // Null for inputs, initializers, and names that nothing makes.
  const OnnxNode* MakerOf(std::string_view tensor) const;
  // Null also where another operator makes it.
  const OnnxNode* MakerOf(std::string_view tensor, std::string_view op) const;
  // Null for tensors that are not initializers.
  const OnnxTensor* ConstantOf(std::string_view tensor) const;
  // As the file says it; kNoType where it does not.
  int32_t TypeIn(std::string_view tensor) const;

 private:
  std::unordered_map<std::string_view, const OnnxNode*> makers_;
  std::unordered_map<std::string_view, const OnnxTensor*> constants_;
  std::unordered_map<std::string_view, int32_t> types_;
};

// The one input of float32 that is no constant; null where there is none, or several. Other types
// do not count.
const OnnxValueInfo* FloatInputOf(const OnnxGraph& graph, const GraphTensors& tensors);

}  // namespace lattice

#endif  // LATTICE_MODEL_GRAPH_TENSORS_H_
