#include "native/cpu/openvino_model.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "native/cpu/head_check.h"
#include "native/cpu/openvino_core.h"
#include "native/cpu/rectangles.h"
#include "native/model/box_choice.h"
#include "native/model/detection_head.h"
#include "native/model/model_description.h"
#include "native/model/onnx_reader.h"
#include "native/model/quantization.h"

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

ov::PartialShape ToPartial(const Shape& shape) {
  return std::vector<ov::Dimension>(shape.begin(), shape.end());
}

// Half-precision exports get float ports, so that the core deals with one type. An input of bytes
// is divided by 255, which the library leaves out where the network rounds the quotients to bytes.
Result<std::shared_ptr<ov::Model>> WithPorts(std::shared_ptr<ov::Model> network, bool byte_input) {
  bool floats = true;
  for (const auto& ports : {network->inputs(), network->outputs()}) {
    for (const auto& port : ports) {
      const ov::element::Type type = port.get_element_type();
      if (!type.is_real()) {
        return Status(StatusCode::kInvalidModel, "The model has a tensor of type " +
                                                     type.to_string() +
                                                     "; floating-point ones are needed.");
      }
      floats = floats && type == ov::element::f32;
    }
  }
  if (floats && !byte_input) return network;
  ov::preprocess::PrePostProcessor ports(network);
  if (byte_input) {
    ports.input().tensor().set_element_type(ov::element::u8);
    ports.input().preprocess().convert_element_type(ov::element::f32).scale(255.0f);
  } else {
    ports.input().tensor().set_element_type(ov::element::f32);
  }
  for (size_t i = 0; i < network->outputs().size(); ++i) {
    ports.output(i).tensor().set_element_type(ov::element::f32);
  }
  return ports.build();
}

// The library computes such exports of opset 12 wrongly, without an error and also in floats: it
// finds vehicles where none are (2026.4.1). The same network exported with opset 18 is right.
constexpr int64_t kOldestSignedOpset = 13;

// A network of the same nodes that ends at the head, which CheckHead has found in it.
std::shared_ptr<ov::Model> Cut(const ov::Model& network, const DetectionHead& head) {
  ov::OutputVector outputs;
  for (const HeadScale& scale : head.scales) {
    outputs.push_back(FindTensor(network, scale.boxes).value());
    outputs.push_back(FindTensor(network, scale.classes).value());
  }
  return std::make_shared<ov::Model>(outputs, network.get_parameters());
}

std::string ToText(InputSize size) {
  return std::to_string(size.width) + " x " + std::to_string(size.height);
}

// Whether a network computes all its outputs at this input. Exports with fixed sides may hold sizes
// of their own input.
bool RunsAt(const ov::Model& network, const Head& head, InputSize size) {
  try {
    const auto sized = network.clone();
    sized->reshape(ov::PartialShape{1, 3, size.height, size.width});
    if (head.layout != HeadLayout::kScales) return true;
    for (size_t i = 0; i < 2 * kHeadScales; ++i) {
      const int stride = head.strides[i / 2];
      const int64_t channels = i % 2 == 0 ? 4 * head.bins : head.classes;
      const ov::PartialShape grid{1, channels, size.height / stride, size.width / stride};
      if (sized->output(i).get_partial_shape() != grid) return false;
    }
    return true;
  } catch (const ov::Exception&) {
    return false;
  }
}

// Why it cannot run at this rectangle; empty where it can.
std::string Obstacle(const ov::Model& network, const ModelInfo& info, bool open_sides,
                     InputSize size) {
  const InputSize own{info.input_width, info.input_height};
  if (size.width > own.width || size.height > own.height || size == own) {
    return "its own input, " + ToText(own) + ", is not larger.";
  }
  if (size.width != own.width && size.height != own.height) {
    return "one side must be that of its own input, " + ToText(own) +
           ", or no photo lies in it as large as there.";
  }
  if (size.width % info.stride != 0 || size.height % info.stride != 0) {
    return "sides must be multiples of " + std::to_string(info.stride) + ".";
  }
  if (info.fixed_batch > 1) return "its batch is fixed.";
  // A whole network with fixed sides may hold the places of its anchors, which have no shape.
  if (info.head.layout != HeadLayout::kScales && !open_sides) {
    return "its sides are fixed, and the end of the network is not one of those that are known.";
  }
  if (!RunsAt(network, info.head, size)) return "its network fits its own input only.";
  return {};
}

void ChooseRectangles(const ov::Model& network, bool open_sides,
                      const std::optional<std::vector<InputSize>>& asked, ModelInfo* info) {
  if (asked) {
    for (const InputSize& size : SmallestFirst(*asked)) {
      const std::string obstacle = Obstacle(network, *info, open_sides, size);
      if (obstacle.empty()) {
        info->rectangles.push_back(size);
      } else {
        info->without.push_back("The model cannot run at " + ToText(size) + ": " + obstacle);
      }
    }
    return;
  }
  const InputSize smallest = info->input_width > info->stride
                                 ? InputSize{info->stride, info->input_height}
                                 : InputSize{info->input_width, info->stride};
  info->any_rectangle = open_sides && Obstacle(network, *info, true, smallest).empty();
}

}  // namespace

Result<OpenVinoModel> ReadOpenVinoModel(const std::string& file, ModelInfo described,
                                        const std::optional<std::vector<InputSize>>& rectangles) {
  OpenVinoModel model;
  model.info = std::move(described);
  ModelInfo& info = model.info;
  // A file that this reader cannot read runs whole, if the library can.
  const auto onnx = ReadOnnxModel(BytesOf(file));
  if (onnx.ok()) {
    info.quantization = QuantizationOf(onnx->graph);
    info.byte_input = RoundsInputToBytes(onnx->graph);
  }
  if (info.quantization == Quantization::kSigned && onnx->opset < kOldestSignedOpset) {
    return Status(StatusCode::kInvalidModel,
                  "The model is quantised to signed 8-bit numbers with opset " +
                      std::to_string(onnx->opset) +
                      ", which OpenVINO computes wrongly. Export it with opset 13 or later.");
  }
  // Read from memory, so that the bytes that were checked are the bytes that run.
  std::shared_ptr<ov::Model> network = SharedCore().read_model(file, ov::Tensor());
  const std::vector<Shape> inputs = Shapes(network->inputs());
  const auto input = ResolveInput(inputs, info);
  if (!input.ok()) return input.status();
  const auto classes = static_cast<int>(info.names.size());
  const auto found = onnx.ok() ? FindDetectionHead(*onnx, classes) : std::nullopt;
  const auto at_own_input = [&] {
    auto sized = network->clone();
    sized->reshape(ToPartial(*input));
    return sized;
  };
  const auto proven = found ? CheckHead(at_own_input(), *found, classes) : std::nullopt;
  if (proven) {
    info.head = *proven;
    network = Cut(*network, *found);
  } else {
    const Status output =
        CheckOutput(Shapes(at_own_input()->outputs()), static_cast<int>((*input)[0]),
                    !onnx.ok() || ChoosesBoxes(onnx->graph), info);
    if (!output.ok()) return output;
  }
  ChooseRectangles(*network, inputs[0][2] < 0 && inputs[0][3] < 0, rectangles, &info);
  ov::PartialShape sides = ToPartial(*input);
  if (info.any_rectangle || !info.rectangles.empty()) {
    sides[2] = ov::Dimension(info.stride, info.input_height);
    sides[3] = ov::Dimension(info.stride, info.input_width);
  }
  network->reshape(sides);
  auto with_ports = WithPorts(std::move(network), info.byte_input);
  if (!with_ports.ok()) return with_ports.status();
  model.network = *std::move(with_ports);
  return model;
}

}  // namespace lattice
