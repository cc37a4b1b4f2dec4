// Names that are free in a graph.
#ifndef LATTICE_GPU_ONNX_TENSOR_NAMES_H_
#define LATTICE_GPU_ONNX_TENSOR_NAMES_H_

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "native/model/onnx_graph.h"

namespace lattice {

class TensorNames {
 public:
  explicit TensorNames(const OnnxGraph& graph) {
    for (const OnnxTensor& tensor : graph.initializers) taken_.insert(tensor.name);
    for (const OnnxValueInfo& input : graph.inputs) taken_.insert(input.name);
    for (const OnnxNode& node : graph.nodes) {
      taken_.insert(node.outputs.begin(), node.outputs.end());
    }
  }

  // `wanted`, or the first free one of wanted_2, wanted_3, ...; takes it.
  std::string Free(const std::string& wanted) {
    std::string name = wanted;
    if (taken_.insert(name).second) return name;
    // All lower numbers are taken: names are never given back.
    int& number = next_.try_emplace(wanted, 2).first->second;
    do {
      name = wanted + "_" + std::to_string(number++);
    } while (!taken_.insert(name).second);
    return name;
  }

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_;  // next number per name that was taken
};

}  // namespace lattice

#endif  // LATTICE_GPU_ONNX_TENSOR_NAMES_H_
