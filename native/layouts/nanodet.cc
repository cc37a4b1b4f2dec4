#include "native/layouts/nanodet.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "native/layouts/graph_extension.h"
#include "native/layouts/grid_export.h"
#include "native/model/graph_tensors.h"
#include "native/model/model_description.h"

namespace lattice {
namespace {

constexpr int kNanodetStrides[] = {8, 16, 32, 64};
// Mean and deviation of the channels in levels 0 to 255, blue first.
constexpr float kMean[] = {103.53f, 116.28f, 123.675f};
constexpr float kDeviation[] = {57.375f, 57.12f, 58.395f};
// The first opset whose Slice takes its ends as inputs, and the one from which ReduceSum takes its
// axes as an input.
constexpr int64_t kOldestNanodetOpset = 11;
constexpr int64_t kAxesAsInput = 13;

struct NanodetNumbers {
  std::string tensor;  // [batch, classes + 4 * bins, cells]
  int64_t bins = 0;
};

// The first of whole numbers that the file holds; 0 for others.
int64_t FirstOf(const GraphTensors& tensors, const std::string& tensor) {
  std::optional<std::vector<int64_t>> numbers;
  if (const OnnxTensor* constant = tensors.ConstantOf(tensor)) {
    numbers = ReadIntegers(*constant);
  } else if (const OnnxNode* maker = tensors.MakerOf(tensor)) {
    const OnnxAttribute* value = maker->op == "Constant" ? maker->Find("value") : nullptr;
    const auto read = ReadTensor(value == nullptr ? ByteView() : value->tensor);
    if (read.ok()) numbers = ReadIntegers(*read);
  }
  return numbers && !numbers->empty() ? numbers->front() : 0;
}

// Channels of the first part; 0 where the file does not say.
int64_t FirstPart(const GraphTensors& tensors, const OnnxNode& parts) {
  if (const OnnxAttribute* sizes = parts.Find("split")) {
    return sizes->integers.empty() ? 0 : sizes->integers[0];
  }
  return parts.inputs.size() < 2 ? 0 : FirstOf(tensors, parts.inputs[1]);
}

// Channels behind those of the classes; 0 for what is no grid.
int64_t SidesOf(const GraphTensors& tensors, const std::string& grid, int64_t classes) {
  const OnnxNode* flat = tensors.MakerOf(grid);
  if (!Is(flat, "Reshape") && !Is(flat, "Flatten")) return 0;
  const OnnxNode* joined = tensors.MakerOf(flat->inputs[0], "Concat");
  if (!Joins(joined, 2, 1)) return 0;
  const OnnxNode* scores = tensors.MakerOf(joined->inputs[0], "Sigmoid");
  if (scores == nullptr) return 0;
  const OnnxNode* parts = tensors.MakerOf(scores->inputs[0], "Split");
  const bool in_order = parts != nullptr && parts->outputs.size() == 2 &&
                        parts->outputs[0] == scores->inputs[0] &&
                        parts->outputs[1] == joined->inputs[1] && parts->Integer("axis", 0) == 1;
  if (!in_order || FirstPart(tensors, *parts) != classes) return 0;
  return ChannelsOf(tensors, parts->inputs[0]) - classes;
}

// Returns nullopt when the graph ends in another way.
std::optional<NanodetNumbers> FindNumbers(const OnnxGraph& graph, const GraphTensors& tensors,
                                          int64_t classes) {
  const OnnxNode* grids = JoinedGrids(graph, tensors, std::size(kNanodetStrides));
  if (grids == nullptr) return std::nullopt;
  const int64_t sides = SidesOf(tensors, grids->inputs[0], classes);
  const bool alike = std::all_of(
      grids->inputs.begin(), grids->inputs.end(),
      [&](const std::string& grid) { return SidesOf(tensors, grid, classes) == sides; });
  if (!alike || sides <= 0 || sides % 4 != 0) return std::nullopt;
  return NanodetNumbers{grids->outputs[0], sides / 4};
}

// The network gets BGR, less the mean and by the deviation.
void Normalise(const std::string& picture, OnnxGraph* graph) {
  GraphExtension more(graph);
  std::vector<float> factors;
  std::vector<float> offsets;
  for (size_t channel = 0; channel < 3; ++channel) {
    factors.push_back(255 / kDeviation[channel]);
    offsets.push_back(kMean[channel] / kDeviation[channel]);
  }
  OnnxNode turned = GraphExtension::Node(
      "Gather", {picture, more.Constant("nanodet.blue_first", {2, 1, 0})}, "nanodet.bgr");
  turned.Set(IntegerAttribute("axis", 1));
  OnnxNode scaled = GraphExtension::Node(
      "Mul", {turned.outputs[0], more.Constant("nanodet.factors", {1, 3, 1, 1}, factors)},
      "nanodet.scaled");
  OnnxNode moved = GraphExtension::Node(
      "Sub", {scaled.outputs[0], more.Constant("nanodet.offsets", {1, 3, 1, 1}, offsets)},
      "nanodet.pixels");
  more.InsertBehind(picture, {std::move(turned), std::move(scaled), std::move(moved)});
}

// [batch, 4, cells]: left, top, right and bottom in cells, of logits [batch, 4 * bins, cells].
std::string Distances(const std::string& logits, int64_t bins, int64_t opset,
                      GraphExtension* more) {
  OnnxNode turned =
      GraphExtension::Node("Transpose", {more->Reshaped(logits, {0, 4, bins, -1}, "nanodet.sides")},
                           "nanodet.bins_last");
  turned.Set(IntegersAttribute("perm", {0, 1, 3, 2}));
  // Softmax over the last axis, for which opsets before 13 mean the same.
  OnnxNode weights =
      GraphExtension::Node("Softmax", {more->Add(std::move(turned))}, "nanodet.weights");
  weights.Set(IntegerAttribute("axis", 3));
  std::vector<float> steps(static_cast<size_t>(bins));
  std::iota(steps.begin(), steps.end(), 0.0f);
  const std::string weighed = more->Add(
      "Mul", {more->Add(std::move(weights)), more->Constant("nanodet.steps", {bins}, steps)},
      "nanodet.weighed");
  OnnxNode sum = GraphExtension::Node("ReduceSum", {weighed}, "nanodet.distances");
  sum.Set(IntegerAttribute("keepdims", 0));
  if (opset < kAxesAsInput) {
    sum.Set(IntegersAttribute("axes", {3}));
  } else {
    sum.inputs.push_back(more->Constant("nanodet.last", {3}));
  }
  return more->Add(std::move(sum));
}

// Nodes that make the output of the numbers of the cells.
void AddRows(const NanodetNumbers& numbers, const ModelInfo& info, OnnxModel* model) {
  GraphExtension more(&model->graph);
  const Cells cells = CellsAt(kNanodetStrides, info.input_width, info.input_height);
  const auto classes = static_cast<int64_t>(info.names.size());
  const std::string scores = more.Part(numbers.tensor, 1, 0, classes, "nanodet.scores");
  const std::string logits =
      more.Part(numbers.tensor, 1, classes, classes + 4 * numbers.bins, "nanodet.logits");
  const std::string pixels =
      more.Add("Mul",
               {Distances(logits, numbers.bins, model->opset, &more),
                more.Constant("nanodet.strides", {1, 1, cells.count()}, cells.strides)},
               "nanodet.reach");
  const std::string before = more.Part(pixels, 1, 0, 2, "nanodet.before");
  const std::string behind = more.Part(pixels, 1, 2, 4, "nanodet.behind");
  const std::string size = more.Add("Add", {before, behind}, "nanodet.size");
  const std::string half = more.Add("Mul",
                                    {more.Add("Sub", {behind, before}, "nanodet.shift"),
                                     more.Constant("nanodet.half", {1}, std::vector{0.5f})},
                                    "nanodet.half_shift");
  const std::string centre =
      more.Add("Add", {half, more.Constant("nanodet.places", {1, 2, cells.count()}, cells.places)},
               "nanodet.centre");
  more.SetOutput(more.Join({centre, size, scores}, 1, "nanodet.rows"));
}

}  // namespace

bool TurnNanodetIntoRows(ModelInfo info, OnnxModel* model) {
  OnnxGraph& graph = model->graph;
  if (model->opset < kOldestNanodetOpset) return false;
  const GraphTensors tensors(graph);
  const auto numbers = FindNumbers(graph, tensors, static_cast<int64_t>(info.names.size()));
  const OnnxValueInfo* picture = OnlyPicture(graph, tensors);
  if (!numbers || picture == nullptr || !ResolveInput({picture->Shape()}, info).ok()) return false;
  for (OnnxValueInfo& input : graph.inputs) {
    if (&input == picture) input.CloseShape({-1, 3, info.input_height, info.input_width});
  }
  const std::string name = picture->name;
  Normalise(name, &graph);
  AddRows(*numbers, info, model);
  return true;
}

}  // namespace lattice
