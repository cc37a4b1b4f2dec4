// What a network's tensors are for inputs of given shapes, without running it.
#ifndef LATTICE_ENGINE_OPENVINO_OPENVINO_TENSORS_H_
#define LATTICE_ENGINE_OPENVINO_OPENVINO_TENSORS_H_

#include <optional>
#include <string>
#include <vector>

#include "native/gpu_onnx/known_tensors.h"
#include "native/onnx/model_description.h"

namespace lattice {

// What is the same for inputs of all these shapes, which are closed and at least one: values of
// FLOAT, FLOAT16, INT32, INT64 and BOOL tensors that follow from shapes and constants (not
// those of the file, nor what goes only into others of these), and shapes, in which a
// side that differs is -1. Nothing for a file that OpenVINO cannot read. Thread-safe.
std::optional<KnownTensors> InferTensors(const std::string& onnx, const std::vector<Shape>& inputs);

}  // namespace lattice

#endif  // LATTICE_ENGINE_OPENVINO_OPENVINO_TENSORS_H_
