// A model file as an OpenVINO network: read once, then resized to each input size.
#ifndef LATTICE_ENGINE_OPENVINO_OPENVINO_MODEL_H_
#define LATTICE_ENGINE_OPENVINO_OPENVINO_MODEL_H_

#include <cstddef>
#include <memory>
#include <openvino/openvino.hpp>
#include <optional>
#include <string>

#include "native/base/status.h"
#include "native/onnx/input_size.h"
#include "native/onnx/model_info.h"

namespace lattice {

// The file's network, with its open sides, and the file's metadata.
struct OpenVinoModel {
  std::shared_ptr<const ov::Model> network;
  ModelInfo info;
  size_t file_bytes = 0;
};

// A network of one input size, ready to be compiled. It shares its weights with its model.
struct SizedNetwork {
  std::shared_ptr<ov::Model> network;
  ov::Shape input;
  ModelInfo info;  // all but device, precision and memory
};

// Both have the codes of OpenVinoNetwork::Load and throw what the library throws.
Result<OpenVinoModel> ReadOpenVinoModel(const std::string& path);

// At the model's own input, or at a smaller one.
Result<SizedNetwork> SizeNetwork(const OpenVinoModel& model, std::optional<InputSize> rectangle);

}  // namespace lattice

#endif  // LATTICE_ENGINE_OPENVINO_OPENVINO_MODEL_H_
