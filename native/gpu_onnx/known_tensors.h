// What is known of a graph's tensors before it runs.
#ifndef LATTICE_GPU_ONNX_KNOWN_TENSORS_H_
#define LATTICE_GPU_ONNX_KNOWN_TENSORS_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "native/onnx/onnx_tensor.h"

namespace lattice {

// By tensor name. Nothing is known of tensors that are in neither map.
struct KnownTensors {
  std::unordered_map<std::string, OnnxTensor> values;  // the same for every input
  std::unordered_map<std::string, std::vector<int64_t>>
      shapes;  // -1 for a side that depends on the input
};

}  // namespace lattice

#endif  // LATTICE_GPU_ONNX_KNOWN_TENSORS_H_
