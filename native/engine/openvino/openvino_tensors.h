// Shapes and constant values of a network's tensors for given input shapes, without running it.
#ifndef LATTICE_ENGINE_OPENVINO_OPENVINO_TENSORS_H_
#define LATTICE_ENGINE_OPENVINO_OPENVINO_TENSORS_H_

#include <optional>
#include <string>
#include <vector>

#include "native/gpu_onnx/known_tensors.h"
#include "native/onnx/model_description.h"

namespace lattice {

// The values and shapes that are the same for all `inputs`, at least one, without open sides.
// Values: FLOAT, FLOAT16, INT32, INT64 and BOOL tensors that follow from shapes and constants,
// except the constants of the file and values that only such tensors use. Shapes: sides that differ
// are -1. Nothing for a file that OpenVINO cannot read. Thread-safe.
std::optional<KnownTensors> InferTensors(const std::string& onnx, const std::vector<Shape>& inputs);

}  // namespace lattice

#endif  // LATTICE_ENGINE_OPENVINO_OPENVINO_TENSORS_H_
