#include "native/engine/openvino/openvino_model.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "native/engine/openvino/openvino_core.h"
#include "native/engine/openvino/openvino_regrid.h"
#include "native/onnx/model_description.h"
#include "native/onnx/model_file.h"
#include "native/onnx/onnx_metadata.h"

namespace lattice {
namespace {

std::vector<Shape> Shapes(const std::vector<ov::Output<ov::Node>>& ports) {
  std::vector<Shape> shapes;
  for (const auto& port : ports) {
    Shape& shape = shapes.emplace_back();
    const ov::PartialShape& partial = port.get_partial_shape();
    if (partial.rank().is_dynamic()) continue;
    for (const auto& dim : partial) shape.push_back(dim.is_static() ? dim.get_length() : -1);
  }
  return shapes;
}

// Half-precision exports get float ports, so that the core deals with one type.
Result<std::shared_ptr<ov::Model>> WithFloatPorts(std::shared_ptr<ov::Model> network) {
  const ov::element::Type input = network->input().get_element_type();
  const ov::element::Type output = network->output().get_element_type();
  if (!input.is_real() || !output.is_real()) {
    return Status(StatusCode::kInvalidModel, "The model's tensors are of type " +
                                                 input.to_string() + " and " + output.to_string() +
                                                 "; floating-point ones are needed.");
  }
  if (input == ov::element::f32 && output == ov::element::f32) return network;
  ov::preprocess::PrePostProcessor ports(network);
  ports.input().tensor().set_element_type(ov::element::f32);
  ports.output().tensor().set_element_type(ov::element::f32);
  return ports.build();
}

Status Refuse(InputSize size, const std::string& reason) {
  return {StatusCode::kInvalidModel, "The model cannot run at " + std::to_string(size.width) +
                                         " x " + std::to_string(size.height) + ": " + reason};
}

// Changes the network and what is known of it.
Status SetRectangle(InputSize size, ov::Model& network, Shape* input, ModelInfo* info) {
  const InputSize own{info->input_width, info->input_height};
  const std::string own_size = std::to_string(own.width) + " x " + std::to_string(own.height);
  if (size.width > own.width || size.height > own.height || size == own) {
    return Refuse(size, "its own input, " + own_size + ", is not larger.");
  }
  if (size.width != own.width && size.height != own.height) {
    return Refuse(size, "one side must be that of its own input, " + own_size +
                            ", or no photo lies in it as large as there.");
  }
  if (size.width % info->stride != 0 || size.height % info->stride != 0) {
    return Refuse(size, "sides must be multiples of " + std::to_string(info->stride) + ".");
  }
  if ((*input)[0] != 1) return Refuse(size, "its batch is fixed.");
  try {
    if (!Regrid(network, own, size, info->stride)) {
      return Refuse(size, "the end of the network is not the published one.");
    }
  } catch (const ov::Exception&) {
    return Refuse(size, "its network fits its own input only.");
  }
  (*input)[2] = info->input_height = size.height;
  (*input)[3] = info->input_width = size.width;
  return {};
}

}  // namespace

Result<OpenVinoModel> ReadOpenVinoModel(const std::string& path) {
  auto file = ReadModelFile(path);
  if (!file.ok()) return file.status();
  auto metadata = ReadOnnxMetadata({reinterpret_cast<const uint8_t*>(file->data()), file->size()});
  if (!metadata.ok()) return metadata.status();
  auto described = DescribeMetadata(*std::move(metadata));
  if (!described.ok()) return described.status();
  // From memory, so that the bytes that were checked are the bytes that run.
  return OpenVinoModel{SharedCore().read_model(*file, ov::Tensor()), *std::move(described),
                       file->size()};
}

Result<SizedNetwork> SizeNetwork(const OpenVinoModel& model, std::optional<InputSize> rectangle) {
  auto network = model.network->clone();
  ModelInfo info = model.info;
  auto input = ResolveInput(Shapes(network->inputs()), info);
  if (!input.ok()) return input.status();
  if (rectangle) {
    const Status set = SetRectangle(*rectangle, *network, &*input, &info);
    if (!set.ok()) return set;
  }
  network->reshape(ov::PartialShape(std::vector<ov::Dimension>(input->begin(), input->end())));
  const Status output =
      CheckOutput(Shapes(network->outputs()), static_cast<int>((*input)[0]), info);
  if (!output.ok()) return output;
  auto with_ports = WithFloatPorts(std::move(network));
  if (!with_ports.ok()) return with_ports.status();
  return SizedNetwork{*std::move(with_ports), ov::Shape(input->begin(), input->end()),
                      std::move(info)};
}

}  // namespace lattice
