// Adds nodes to a graph, behind or before those of its exporter.
#ifndef LATTICE_MODEL_GRAPH_EXTENSION_H_
#define LATTICE_MODEL_GRAPH_EXTENSION_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "native/model/onnx_graph.h"

namespace lattice {

// Its tensors have names that no exporter gives: "lattice." and the name of its caller, which must
// differ from call to call. Its operators are all ONNX's own, in the form of opset 13, which later
// ones take as well. The graph must outlive it.
class GraphExtension {
 public:
  explicit GraphExtension(OnnxGraph* graph) : graph_(graph) {}

  // Each returns the name of the tensor.
  std::string Constant(std::string_view name, std::vector<int64_t> dims,
                       const std::vector<float>& values);
  std::string Constant(std::string_view name, std::vector<int64_t> dims,
                       const std::vector<int64_t>& values);
  // A constant of one axis.
  std::string Constant(std::string_view name, const std::vector<int64_t>& values);
  // A node at the end of the graph.
  std::string Add(OnnxNode node);
  std::string Add(std::string_view op, std::vector<std::string> inputs, std::string_view output);
  std::string Join(std::vector<std::string> tensors, int64_t axis, std::string_view output);
  // The part of `tensor` from one index of an axis to before another one.
  std::string Part(const std::string& tensor, int64_t axis, int64_t from, int64_t to,
                   std::string_view output);
  std::string Reshaped(const std::string& tensor, const std::vector<int64_t>& shape,
                       std::string_view output);

  // A node that is not in the graph yet.
  static OnnxNode Node(std::string_view op, std::vector<std::string> inputs,
                       std::string_view output);

  // Inserts the nodes at the start of the graph: the readers of `tensor` then read the output of
  // the last of them.
  void InsertBehind(const std::string& tensor, std::vector<OnnxNode> nodes);
  // Makes it the graph's only output, of float32.
  void SetOutput(const std::string& tensor);

 private:
  std::string Keep(OnnxTensor tensor);

  OnnxGraph* graph_;
};

}  // namespace lattice

#endif  // LATTICE_MODEL_GRAPH_EXTENSION_H_
