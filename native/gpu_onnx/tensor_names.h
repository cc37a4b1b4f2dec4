// Names that are free in a graph.
#ifndef LATTICE_GPU_ONNX_TENSOR_NAMES_H_
#define LATTICE_GPU_ONNX_TENSOR_NAMES_H_

#include <string>
#include <unordered_set>
#include <utility>

namespace lattice {

class TensorNames {
 public:
  void Take(const std::string& name) { taken_.insert(name); }

  // `wanted`, or the first free one of wanted_2, wanted_3, ...; takes it.
  std::string Free(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 2; !taken_.insert(name).second; ++i) name = wanted + "_" + std::to_string(i);
    return name;
  }

 private:
  std::unordered_set<std::string> taken_;
};

}  // namespace lattice

#endif  // LATTICE_GPU_ONNX_TENSOR_NAMES_H_
