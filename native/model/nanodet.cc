#include "native/model/nanodet.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "native/model/graph_extension.h"
#include "native/model/graph_tensors.h"
#include "native/model/model_description.h"

namespace lattice {
namespace {

constexpr int kNanodetStrides[] = {8, 16, 32, 64};
// Mean and deviation of levels 0 to 255, blue first.
constexpr float kMean[] = {103.53f, 116.28f, 123.675f};
constexpr float kDeviation[] = {57.375f, 57.12f, 58.395f};
// The first whose Slice takes its ends as inputs, and from where on ReduceSum takes its axes so.
constexpr int64_t kOldestNanodetOpset = 11;
constexpr int64_t kAxesAsInput = 13;

struct NanodetNumbers {
  std::string tensor;  // [batch, classes + 4 * bins, cells]
  int64_t bins = 0;
};

// Walks back from the end of a graph.
class NanodetEnd {
 public:
  explicit NanodetEnd(const OnnxGraph& graph) : graph_(graph), tensors_(graph) {}

  // Nothing for another end.
  std::optional<NanodetNumbers> Find(int64_t classes) const {
    if (graph_.outputs.size() != 1) return std::nullopt;
    const OnnxNode* last = tensors_.MakerOf(graph_.outputs[0].name, "Transpose");
    const OnnxAttribute* order = last == nullptr ? nullptr : last->Find("perm");
    if (order == nullptr || order->integers != std::vector<int64_t>{0, 2, 1}) return std::nullopt;
    const OnnxNode* grids = tensors_.MakerOf(last->inputs[0], "Concat");
    if (grids == nullptr || grids->inputs.size() != std::size(kNanodetStrides) ||
        grids->Integer("axis", -1) != 2) {
      return std::nullopt;
    }
    const int64_t sides = SidesOf(grids->inputs[0], classes);
    const bool alike =
        std::all_of(grids->inputs.begin(), grids->inputs.end(),
                    [&](const std::string& grid) { return SidesOf(grid, classes) == sides; });
    if (!alike || sides <= 0 || sides % 4 != 0) return std::nullopt;
    return NanodetNumbers{last->inputs[0], sides / 4};
  }

  // Null where it is not the only one.
  const OnnxValueInfo* Picture() const {
    const OnnxValueInfo* picture = FloatInputOf(graph_, tensors_);
    const bool alone =
        std::all_of(graph_.inputs.begin(), graph_.inputs.end(), [&](const OnnxValueInfo& input) {
          return &input == picture || tensors_.ConstantOf(input.name) != nullptr;
        });
    return alone ? picture : nullptr;
  }

 private:
  // Channels behind those of the classes; 0 for what is no grid.
  int64_t SidesOf(const std::string& grid, int64_t classes) const {
    const OnnxNode* flat = tensors_.MakerOf(grid);
    if (!Is(flat, "Reshape") && !Is(flat, "Flatten")) return 0;
    const OnnxNode* joined = tensors_.MakerOf(flat->inputs[0], "Concat");
    if (joined == nullptr || joined->inputs.size() != 2 || joined->Integer("axis", -1) != 1) {
      return 0;
    }
    const OnnxNode* scores = tensors_.MakerOf(joined->inputs[0], "Sigmoid");
    if (scores == nullptr) return 0;
    const OnnxNode* parts = tensors_.MakerOf(scores->inputs[0], "Split");
    const bool in_order = parts != nullptr && parts->outputs.size() == 2 &&
                          parts->outputs[0] == scores->inputs[0] &&
                          parts->outputs[1] == joined->inputs[1] && parts->Integer("axis", 0) == 1;
    if (!in_order || FirstPart(*parts) != classes) return 0;
    return ChannelsOf(parts->inputs[0]) - classes;
  }

  // Channels of the first part; 0 where the file does not say.
  int64_t FirstPart(const OnnxNode& parts) const {
    if (const OnnxAttribute* sizes = parts.Find("split")) {
      return sizes->integers.empty() ? 0 : sizes->integers[0];
    }
    return parts.inputs.size() < 2 ? 0 : FirstOf(parts.inputs[1]);
  }

  // The first of the whole numbers that the file holds for a tensor; 0 for other tensors.
  int64_t FirstOf(const std::string& tensor) const {
    std::optional<std::vector<int64_t>> numbers;
    if (const OnnxTensor* constant = tensors_.ConstantOf(tensor)) {
      numbers = ReadIntegers(*constant);
    } else if (const OnnxNode* maker = tensors_.MakerOf(tensor)) {
      const OnnxAttribute* value = maker->op == "Constant" ? maker->Find("value") : nullptr;
      const auto read = ReadTensor(value == nullptr ? ByteView() : value->tensor);
      if (read.ok()) numbers = ReadIntegers(*read);
    }
    return numbers && !numbers->empty() ? numbers->front() : 0;
  }

  int64_t ChannelsOf(const std::string& tensor) const {
    const OnnxNode* convolution = tensors_.MakerOf(tensor, "Conv");
    if (convolution == nullptr || convolution->inputs.size() < 2) return 0;
    const OnnxTensor* weights = tensors_.ConstantOf(convolution->inputs[1]);
    const bool known = weights != nullptr && weights->type == kFloat && !weights->dims.empty();
    return known ? weights->dims[0] : 0;
  }

  const OnnxGraph& graph_;
  const GraphTensors tensors_;
};

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

// Upper left corners of all cells, [1, 2, cells], and their strides, [1, 1, cells].
struct NanodetCells {
  std::vector<float> places;
  std::vector<float> strides;
};

NanodetCells NanodetCellsAt(int width, int height) {
  NanodetCells cells;
  std::vector<float> tops;
  for (const int stride : kNanodetStrides) {
    for (int y = 0; y < height; y += stride) {
      for (int x = 0; x < width; x += stride) {
        cells.places.push_back(static_cast<float>(x));
        tops.push_back(static_cast<float>(y));
        cells.strides.push_back(static_cast<float>(stride));
      }
    }
  }
  cells.places.insert(cells.places.end(), tops.begin(), tops.end());
  return cells;
}

// [batch, 4, cells]: left, top, right and bottom in cells, of logits [batch, 4 * bins, cells].
std::string Distances(const std::string& logits, int64_t bins, int64_t opset,
                      GraphExtension* more) {
  OnnxNode turned =
      GraphExtension::Node("Transpose", {more->Reshaped(logits, {0, 4, bins, -1}, "nanodet.sides")},
                           "nanodet.bins_last");
  turned.Set(IntegersAttribute("perm", {0, 1, 3, 2}));
  // Over the last axis, where opsets before 13 mean the same.
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
  const NanodetCells cells = NanodetCellsAt(info.input_width, info.input_height);
  const auto count = static_cast<int64_t>(cells.strides.size());
  const auto classes = static_cast<int64_t>(info.names.size());
  const std::string scores = more.Part(numbers.tensor, 1, 0, classes, "nanodet.scores");
  const std::string logits =
      more.Part(numbers.tensor, 1, classes, classes + 4 * numbers.bins, "nanodet.logits");
  const std::string pixels =
      more.Add("Mul",
               {Distances(logits, numbers.bins, model->opset, &more),
                more.Constant("nanodet.strides", {1, 1, count}, cells.strides)},
               "nanodet.reach");
  const std::string before = more.Part(pixels, 1, 0, 2, "nanodet.before");
  const std::string behind = more.Part(pixels, 1, 2, 4, "nanodet.behind");
  const std::string size = more.Add("Add", {before, behind}, "nanodet.size");
  const std::string half = more.Add("Mul",
                                    {more.Add("Sub", {behind, before}, "nanodet.shift"),
                                     more.Constant("nanodet.half", {1}, std::vector{0.5f})},
                                    "nanodet.half_shift");
  const std::string centre =
      more.Add("Add", {half, more.Constant("nanodet.places", {1, 2, count}, cells.places)},
               "nanodet.centre");
  more.SetOutput(more.Join({centre, size, scores}, 1, "nanodet.rows"));
}

}  // namespace

bool TurnNanodetIntoRows(ModelInfo info, OnnxModel* model) {
  OnnxGraph& graph = model->graph;
  if (model->opset < kOldestNanodetOpset) return false;
  const NanodetEnd end(graph);
  const auto numbers = end.Find(static_cast<int64_t>(info.names.size()));
  const OnnxValueInfo* picture = end.Picture();
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
