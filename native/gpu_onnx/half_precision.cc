#include "native/gpu_onnx/half_precision.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "native/gpu_onnx/graph_types.h"
#include "native/gpu_onnx/half_rewriter.h"
#include "native/gpu_onnx/precision_plan.h"
#include "native/gpu_onnx/signed_quantization.h"
#include "native/onnx/onnx_graph.h"
#include "native/onnx/onnx_reader.h"

namespace lattice {
namespace {

constexpr int64_t kOldestOpset = 11;
// Before it, every initializer had to be listed as an input as well.
constexpr int64_t kOldestIrVersion = 4;

Status CheckPorts(const OnnxModel& model) {
  std::unordered_set<std::string> initializers;
  for (const OnnxTensor& tensor : model.graph.initializers) initializers.insert(tensor.name);
  size_t inputs = 0;
  for (const OnnxValueInfo& input : model.graph.inputs) {
    if (initializers.contains(input.name)) continue;
    ++inputs;
    if (!IsFloating(input.type)) {
      return InvalidModel("The input '" + input.name.substr(0, 80) + "' is of type " +
                          TypeName(input.type) + "; FLOAT or FLOAT16 is needed.");
    }
  }
  if (inputs != 1) {
    return InvalidModel("The model has " + std::to_string(inputs) + " inputs; a detector has one.");
  }
  if (model.graph.outputs.empty()) return InvalidModel("The model has no output.");
  return {};
}

Status CheckVersions(const OnnxModel& model) {
  if (model.opset < kOldestOpset) {
    return InvalidModel("The model uses opset " + std::to_string(model.opset) +
                        "; one from 11 on is needed. Export it again.");
  }
  if (model.ir_version < kOldestIrVersion) {
    return InvalidModel("The model's IR version is " + std::to_string(model.ir_version) +
                        "; one from 4 on is needed. Export it again.");
  }
  return {};
}

Status CheckOutputs(const OnnxModel& model, const GraphTypes& types) {
  std::unordered_set<std::string> inputs;
  for (const OnnxValueInfo& input : model.graph.inputs) inputs.insert(input.name);
  for (const OnnxValueInfo& output : model.graph.outputs) {
    if (inputs.contains(output.name) || !types.contains(output.name)) {
      return InvalidModel("No node makes the output '" + output.name.substr(0, 80) + "'.");
    }
  }
  return {};
}

// Casts between the floating types lose their meaning: who reads a tensor says in which of the two.
// Only one that makes an output stays.
void RemoveFloatingCasts(OnnxModel& model, const GraphTypes& types) {
  std::unordered_set<std::string> outputs;
  for (const OnnxValueInfo& output : model.graph.outputs) outputs.insert(output.name);
  std::unordered_map<std::string, std::string> same_as;
  std::vector<OnnxNode> kept;
  for (OnnxNode& node : model.graph.nodes) {
    for (std::string& input : node.inputs) {
      const auto same = same_as.find(input);
      if (same == same_as.end()) continue;
      input = same->second;
      node.changed = true;
    }
    if (node.op == "Cast" && node.inputs.size() == 1 && node.outputs.size() == 1 &&
        IsFloating(types.at(node.inputs[0])) && IsFloating(types.at(node.outputs[0])) &&
        !outputs.contains(node.outputs[0])) {
      same_as.emplace(node.outputs[0], node.inputs[0]);
    } else {
      kept.push_back(std::move(node));
    }
  }
  model.graph.nodes = std::move(kept);
}

}  // namespace

Result<std::string> ToHalfPrecision(std::span<const uint8_t> onnx,
                                    const std::vector<int64_t>& input_shape) {
  auto model = ReadOnnxModel(onnx);
  if (!model.ok()) return model.status();
  Status status = CheckVersions(*model);
  if (status.ok()) status = CheckPorts(*model);
  if (status.ok()) status = MakeQuantizationSigned(*model);
  if (!status.ok()) return status;

  auto types = InferTypes(*model);
  if (!types.ok()) return types.status();
  status = CheckOutputs(*model, *types);
  if (!status.ok()) return status;
  RemoveFloatingCasts(*model, *types);
  types = InferTypes(*model);
  if (!types.ok()) return types.status();

  const auto constants = CollectConstants(*model);
  if (!constants.ok()) return constants.status();
  const auto plan = PlanPrecisions(*model, *constants);
  if (!plan.ok()) return plan.status();
  status = ApplyPrecisions(*model, *plan, *types, *constants);
  if (!status.ok()) return status;
  for (OnnxValueInfo& input : model->graph.inputs) input.CloseShape(input_shape);
  return WriteOnnxModel(*model);
}

}  // namespace lattice
