// What is known of a graph's tensors before it runs.
#ifndef LATTICE_GPU_ONNX_KNOWN_TENSORS_H_
#define LATTICE_GPU_ONNX_KNOWN_TENSORS_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "native/onnx/onnx_tensor.h"

namespace lattice {

// By tensor name. Of tensors that are in neither nothing is known.
struct KnownTensors {
  std::unordered_map<std::string, OnnxTensor> values;            // those that no input changes
  std::unordered_map<std::string, std::vector<int64_t>> shapes;  // -1 for a side that inputs change
};

}  // namespace lattice

#endif  // LATTICE_GPU_ONNX_KNOWN_TENSORS_H_
