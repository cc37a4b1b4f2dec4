// A model file as an OpenVINO network that is ready to be compiled.
#ifndef LATTICE_CPU_OPENVINO_MODEL_H_
#define LATTICE_CPU_OPENVINO_MODEL_H_

#include <cstddef>
#include <memory>
#include <openvino/openvino.hpp>
#include <optional>
#include <string>
#include <vector>

#include "native/base/status.h"
#include "native/model/input_size.h"
#include "native/model/model_info.h"

namespace lattice {

struct OpenVinoModel {
  // Float32 ports, but an input of bytes where info says so. The outputs are those of
  // info.head.layout. The sides of the input are open, up to the model's own, where info tells of
  // rectangles; else all shapes but those of kFinal are closed.
  std::shared_ptr<ov::Model> network;
  ModelInfo info;  // all but device and precision
};

// Cuts the network at its head where that is proven to give the same boxes (head_check.h), else
// leaves it whole. Rectangles: without a list info.any_rectangle tells whether there are any; else
// those of the list that it can run at, which a whole network with fixed sides cannot. Codes of
// OpenVinoNetwork::Load; signed 8-bit exports before opset 13 are kInvalidModel too. Throws what
// the library throws.
//
// `file`: the bytes of the model; `described`: what DescribeMetadata has made of them.
Result<OpenVinoModel> ReadOpenVinoModel(const std::string& file, ModelInfo described,
                                        const std::optional<std::vector<InputSize>>& rectangles);

}  // namespace lattice

#endif  // LATTICE_CPU_OPENVINO_MODEL_H_
