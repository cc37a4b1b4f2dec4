#include "native/gpu/onnx/open_batch.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "native/gpu/onnx/graph_constants.h"
#include "native/gpu/onnx/tensor_names.h"

namespace lattice {
namespace {

using Names = std::unordered_set<std::string_view>;

// Number by number, of tensors and of constants that are repeated for every image.
const Names kPointwise = {"Abs",       "Add",   "Cast", "Clip",        "Div",       "Dropout",
                          "Elu",       "Exp",   "Gelu", "HardSigmoid", "HardSwish", "Identity",
                          "LeakyRelu", "Log",   "Max",  "Min",         "Mish",      "Mul",
                          "Neg",       "PRelu", "Pow",  "Reciprocal",  "Relu",      "Sigmoid",
                          "Softplus",  "Sqrt",  "Sub",  "Tanh"};
// Image by image, with weights that are the same for all.
const Names kPerImage = {"AveragePool",   "BatchNormalization",    "Conv",
                         "ConvTranspose", "GlobalAveragePool",     "GlobalMaxPool",
                         "MaxPool",       "InstanceNormalization", "DepthToSpace",
                         "SpaceToDepth"};
// Along the axis that they name.
const Names kAlongAxis = {"Concat", "LogSoftmax", "Softmax", "Split"};

class BatchOpener {
 public:
  BatchOpener(OnnxModel& model, GraphConstants constants)
      : graph_(model.graph), constants_(std::move(constants)), names_(model.graph) {}

  std::string Run() {
    std::vector<OnnxValueInfo*> inputs;
    for (OnnxValueInfo& input : graph_.inputs) {
      if (!constants_.contains(input.name)) inputs.push_back(&input);
    }
    if (inputs.size() != 1 || inputs[0]->Shape().size() != 4) return "The input is not one image.";
    batch_ = inputs[0]->Shape()[0];
    if (batch_ < 0) return "";
    ranks_[inputs[0]->name] = 4;
    for (OnnxNode& node : graph_.nodes) {
      if (!Carries(node)) continue;
      if (!Passes(node)) return NodeText(node) + " needs the batch that the file fixes.";
    }
    for (const OnnxValueInfo& output : graph_.outputs) {
      if (!ranks_.contains(output.name)) return "An output does not depend on the image.";
    }
    inputs[0]->OpenBatch();
    for (auto& [node, shape] : reshapes_) {
      node->inputs[1] = shape.name;
      node->changed = true;
      graph_.initializers.push_back(std::move(shape));
    }
    return "";
  }

 private:
  // The rank of a tensor whose first axis is the batch; 0 for others.
  int64_t RankOf(const std::string& tensor) const {
    const auto found = ranks_.find(tensor);
    return found == ranks_.end() ? 0 : found->second;
  }

  bool Carries(const OnnxNode& node) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(),
                       [&](const std::string& input) { return RankOf(input) > 0; });
  }

  bool Passes(OnnxNode& node) {
    const int64_t rank = RankOf(node.inputs[0]);
    if (!node.domain.empty() && node.domain != "ai.onnx") return false;
    if (kPointwise.contains(node.op)) return PassesPointwise(node);
    if (node.op == "MatMul") return PassesMatMul(node);
    if (rank == 0) return false;
    if (kPerImage.contains(node.op)) {
      return node.outputs.size() == 1 && OnlyFirst(node) && Made(node, rank);
    }
    if (kAlongAxis.contains(node.op)) return PassesAlongAxis(node, rank);
    if (node.op == "Resize" || node.op == "Upsample") return KeepsBatch(node) && Made(node, rank);
    if (node.op == "Transpose") return PassesTranspose(node, rank);
    if (node.op == "Slice") return PassesSlice(node, rank);
    if (node.op == "Gather") return PassesGather(node, rank);
    if (node.op == "ReduceSum") return PassesReduceSum(node, rank);
    return node.op == "Reshape" && PassesReshape(node);
  }

  bool Made(const OnnxNode& node, int64_t rank) {
    for (const std::string& output : node.outputs) ranks_[output] = rank;
    return true;
  }

  // All other inputs are constants or come from constants.
  bool OnlyFirst(const OnnxNode& node) const {
    return std::all_of(node.inputs.begin() + 1, node.inputs.end(),
                       [&](const std::string& input) { return RankOf(input) == 0; });
  }

  // A constant is the same for every image where its shape has no batch, or a batch of one.
  bool IsForEveryImage(const std::string& input, int64_t rank) const {
    if (input.empty()) return true;
    const auto found = constants_.find(input);
    if (found == constants_.end()) return false;
    const std::vector<int64_t>& dims = found->second.dims;
    const auto own = static_cast<int64_t>(dims.size());
    return own < rank || (own == rank && dims[0] == 1);
  }

  bool PassesPointwise(const OnnxNode& node) {
    int64_t rank = 0;
    for (const std::string& input : node.inputs) rank = std::max(rank, RankOf(input));
    const bool fits =
        std::all_of(node.inputs.begin(), node.inputs.end(), [&](const std::string& input) {
          const int64_t own = RankOf(input);
          return own > 0 ? own == rank : IsForEveryImage(input, rank);
        });
    return fits && Made(node, rank);
  }

  bool PassesMatMul(const OnnxNode& node) {
    const int64_t a = RankOf(node.inputs[0]);
    const int64_t b = node.inputs.size() == 2 ? RankOf(node.inputs[1]) : 0;
    const bool both = a == b && a >= 3;
    const bool weights = a >= 3 && b == 0 && IsForEveryImage(node.inputs[1], 3);
    return (both || weights) && Made(node, a);
  }

  bool PassesAlongAxis(const OnnxNode& node, int64_t rank) {
    const bool soft = node.op.ends_with("oftmax");
    int64_t axis = node.Integer("axis", soft ? -1 : 0);
    if (axis < 0) axis += rank;
    if (axis <= 0 || axis >= rank) return false;
    const bool all = std::all_of(node.inputs.begin(), node.inputs.end(),
                                 [&](const auto& input) { return RankOf(input) == rank; });
    return (node.op == "Concat" ? all : OnlyFirst(node)) && Made(node, rank);
  }

  // Whether the node resizes by factors, the batch's being 1, and not to sizes.
  bool KeepsBatch(const OnnxNode& node) const {
    const size_t place = node.op == "Resize" ? 2 : 1;
    if (!OnlyFirst(node) || node.inputs.size() != place + 1) return false;
    const auto scales = constants_.find(node.inputs[place]);
    if (scales == constants_.end()) return false;
    const auto factors = ReadFloats(scales->second);
    return factors.ok() && !factors->empty() && factors->front() == 1.0f;
  }

  bool PassesTranspose(const OnnxNode& node, int64_t rank) {
    const OnnxAttribute* order = node.Find("perm");
    return order != nullptr && static_cast<int64_t>(order->integers.size()) == rank &&
           order->integers[0] == 0 && Made(node, rank);
  }

  bool PassesSlice(const OnnxNode& node, int64_t rank) {
    if (!OnlyFirst(node) || node.inputs.size() < 4) return false;
    const auto axes = IntegersOf(node.inputs[3]);
    return axes && LeaveBatch(*axes, rank) && Made(node, rank);
  }

  static bool LeaveBatch(const std::vector<int64_t>& axes, int64_t rank) {
    return std::all_of(axes.begin(), axes.end(),
                       [&](int64_t axis) { return axis != 0 && axis != -rank; });
  }

  // The same places of each image.
  bool PassesGather(const OnnxNode& node, int64_t rank) {
    if (!OnlyFirst(node) || node.inputs.size() != 2) return false;
    const auto places = constants_.find(node.inputs[1]);
    return places != constants_.end() && LeaveBatch({node.Integer("axis", 0)}, rank) &&
           Made(node, rank - 1 + static_cast<int64_t>(places->second.dims.size()));
  }

  bool PassesReduceSum(const OnnxNode& node, int64_t rank) {
    if (!OnlyFirst(node)) return false;
    const OnnxAttribute* named = node.Find("axes");
    std::optional<std::vector<int64_t>> axes;
    if (named != nullptr) axes = named->integers;
    if (node.inputs.size() > 1) axes = IntegersOf(node.inputs[1]);
    // Without axes it adds up all numbers.
    if (!axes || axes->empty() || !LeaveBatch(*axes, rank)) return false;
    const bool kept = node.Integer("keepdims", 1) != 0;
    return Made(node, kept ? rank : rank - static_cast<int64_t>(axes->size()));
  }

  std::optional<std::vector<int64_t>> IntegersOf(const std::string& name) const {
    const auto found = constants_.find(name);
    return found == constants_.end() ? std::nullopt : ReadIntegers(found->second);
  }

  // Numbers keep their order, so images stay apart where the first axis has as many of them before
  // and after. 0 means: as many as before.
  bool PassesReshape(OnnxNode& node) {
    if (node.inputs.size() != 2 || node.Integer("allowzero", 0) != 0) return false;
    auto shape = IntegersOf(node.inputs[1]);
    if (!shape || shape->empty()) return false;
    const auto rank = static_cast<int64_t>(shape->size());
    if (shape->front() == 0) return Made(node, rank);
    if (shape->front() != batch_) return false;
    shape->front() = 0;
    const std::string_view raw(reinterpret_cast<const char*>(shape->data()),
                               shape->size() * sizeof(int64_t));
    const std::string name = names_.Free(node.inputs[1] + "_any_batch");
    reshapes_.emplace_back(&node, MakeTensor(name, kInt64, {rank}, raw));
    return Made(node, rank);
  }

  OnnxGraph& graph_;
  const GraphConstants constants_;
  TensorNames names_;
  int64_t batch_ = 1;
  std::unordered_map<std::string, int64_t> ranks_;  // of tensors whose first axis is the batch
  std::vector<std::pair<OnnxNode*, OnnxTensor>> reshapes_;  // and their new shapes
};

}  // namespace

std::string OpenBatch(OnnxModel* model) {
  auto constants = CollectConstants(*model);
  if (!constants.ok()) return constants.status().message();
  return BatchOpener(*model, *std::move(constants)).Run();
}

}  // namespace lattice
