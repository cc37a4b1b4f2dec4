#include "native/layouts/detr.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "native/layouts/graph_extension.h"
#include "native/model/graph_tensors.h"
#include "native/model/model_description.h"

namespace lattice {
namespace {

// The oldest opset that has every operator added here.
constexpr int64_t kOldestOpset = 13;
// Limit of visited nodes: real exports need fewer, a graph made to be deep or wide is left.
constexpr int kMostVisits = 200;
constexpr int kMostRenamed = 8;

// The outputs of a raw export.
struct RawEnd {
  std::string logits;
  std::string boxes;
};

// The ends of a deployed export: outputs, and the input with the picture's size.
struct DeployedEnd {
  std::string labels;
  std::string boxes;
  std::string scores;
  std::string size;
};

bool IsOneOf(const OnnxNode& node, std::initializer_list<std::string_view> ops) {
  return std::any_of(ops.begin(), ops.end(), [&](std::string_view op) { return Is(&node, op); });
}

// Walks back from the outputs of a graph.
class DetrEnd {
 public:
  DetrEnd(const OnnxGraph& graph, int64_t classes)
      : graph_(graph),
        tensors_(graph),
        classes_(classes),
        picture_(FloatInputOf(graph, tensors_)) {}

  // The picture's input; null where the graph does not begin as these backbones do.
  const OnnxValueInfo* picture() const {
    return picture_ != nullptr && BeginsAsBackbone() ? picture_ : nullptr;
  }

  std::optional<RawEnd> FindRaw() const {
    if (graph_.outputs.size() != 2 || InputsBesidePicture() != 0) return std::nullopt;
    for (const size_t first : {size_t{0}, size_t{1}}) {
      const OnnxValueInfo& logits = graph_.outputs[first];
      const OnnxValueInfo& boxes = graph_.outputs[1 - first];
      if (Fits(logits, kFloat, {-1, -1, classes_}) && Fits(boxes, kFloat, {-1, -1, 4}) &&
          IsLogits(logits.name) && IsCentreAndSize(boxes.name)) {
        return RawEnd{logits.name, boxes.name};
      }
    }
    return std::nullopt;
  }

  std::optional<DeployedEnd> FindDeployed() const {
    const std::string* size = SizeInput();
    if (graph_.outputs.size() != 3 || size == nullptr || InputsBesidePicture() != 1) {
      return std::nullopt;
    }
    DeployedEnd end{.labels = {}, .boxes = {}, .scores = {}, .size = *size};
    for (const OnnxValueInfo& output : graph_.outputs) {
      if (Fits(output, kInt64, {-1, -1})) end.labels = output.name;
      if (Fits(output, kFloat, {-1, -1, 4})) end.boxes = output.name;
      if (Fits(output, kFloat, {-1, -1})) end.scores = output.name;
    }
    const OnnxNode* choice = tensors_.MakerOf(end.scores, "TopK");
    if (!ChoosesScores(choice, end.scores) || !AreLabelsOf(end.labels, *choice) ||
        !AreInPixels(end.boxes, end.size)) {
      return std::nullopt;
    }
    return end;
  }

 private:
  // Whether the type and the sides are these; -1 fits any side.
  static bool Fits(const OnnxValueInfo& port, int32_t type, const std::vector<int64_t>& sides) {
    const std::vector<int64_t> found = port.Shape();
    return port.type == type &&
           std::equal(found.begin(), found.end(), sides.begin(), sides.end(),
                      [](int64_t a, int64_t b) { return a < 0 || b < 0 || a == b; });
  }

  size_t InputsBesidePicture() const {
    return static_cast<size_t>(
        std::count_if(graph_.inputs.begin(), graph_.inputs.end(), [&](const OnnxValueInfo& input) {
          return &input != picture_ && tensors_.ConstantOf(input.name) == nullptr;
        }));
  }

  const std::string* SizeInput() const {
    const auto found =
        std::find_if(graph_.inputs.begin(), graph_.inputs.end(), [&](const OnnxValueInfo& input) {
          return Fits(input, kInt64, {-1, 2}) && tensors_.ConstantOf(input.name) == nullptr;
        });
    return found == graph_.inputs.end() ? nullptr : &found->name;
  }

  // Whether only one convolution of 3 x 3 with a stride of 2 reads the picture, Shape aside.
  bool BeginsAsBackbone() const {
    const OnnxNode* first = nullptr;
    for (const OnnxNode& node : graph_.nodes) {
      const bool reads =
          std::find(node.inputs.begin(), node.inputs.end(), picture_->name) != node.inputs.end();
      if (!reads || node.op == "Shape") continue;
      if (first != nullptr) return false;
      first = &node;
    }
    if (!Is(first, "Conv") || first->inputs.size() < 2) return false;
    const OnnxTensor* weights = ConstantOf(first->inputs[1]);
    const OnnxAttribute* strides = first->Find("strides");
    return weights != nullptr && weights->type == kFloat && weights->dims.size() == 4 &&
           weights->dims[1] == 3 && weights->dims[2] == 3 && weights->dims[3] == 3 &&
           strides != nullptr && strides->integers == std::vector<int64_t>{2, 2};
  }

  // An initializer, also behind Identity nodes.
  const OnnxTensor* ConstantOf(std::string_view tensor) const {
    for (int step = 0; step < kMostRenamed; ++step) {
      if (const OnnxTensor* constant = tensors_.ConstantOf(tensor)) return constant;
      const OnnxNode* same = tensors_.MakerOf(tensor, "Identity");
      if (same == nullptr) return nullptr;
      tensor = same->inputs[0];
    }
    return nullptr;
  }

  // Walks back through nodes that stack, cut and pick tensors, and asks `is_end` of each node that
  // made such a part: exports stack the outputs of all layers and take one of them.
  template <typename IsEnd>
  bool IsPartOf(std::string_view tensor, const IsEnd& is_end, int* visits) const {
    const OnnxNode* maker = tensors_.MakerOf(tensor);
    if (maker == nullptr || ++*visits > kMostVisits) return false;
    if (is_end(*maker)) return true;
    if (Is(maker, "Concat")) {
      return std::all_of(maker->inputs.begin(), maker->inputs.end(),
                         [&](const std::string& input) { return IsPartOf(input, is_end, visits); });
    }
    return IsOneOf(*maker, {"Gather", "Identity", "Slice", "Squeeze", "Unsqueeze"}) &&
           IsPartOf(maker->inputs[0], is_end, visits);
  }

  // The output of a linear layer with a column per class; D-FINE sums several.
  bool IsLogits(const std::string& tensor) const {
    int visits = 0;
    const auto is_sum = [&](const OnnxNode& node) {
      bool scores = false;
      return IsLinear(node, &scores, &visits) && scores;
    };
    return IsPartOf(tensor, is_sum, &visits);
  }

  // A sum of linear layers and constants. Sets `scores` where one has a column per class.
  bool IsLinear(const OnnxNode& node, bool* scores, int* visits) const {
    if (++*visits > kMostVisits) return false;
    if (Is(&node, "Add")) {
      return std::all_of(node.inputs.begin(), node.inputs.end(), [&](const std::string& input) {
        if (ConstantOf(input) != nullptr) return true;
        const OnnxNode* maker = tensors_.MakerOf(input);
        return maker != nullptr && IsLinear(*maker, scores, visits);
      });
    }
    if (!IsOneOf(node, {"MatMul", "Gemm"}) || node.inputs.size() < 2) return false;
    const OnnxTensor* weights = ConstantOf(node.inputs[1]);
    if (weights == nullptr || weights->type != kFloat || weights->dims.size() != 2) return false;
    *scores = *scores || weights->dims[node.Integer("transB", 0) != 0 ? 0 : 1] == classes_;
    return true;
  }

  // RT-DETR takes a sigmoid of the four numbers, D-FINE makes them of two corners.
  bool IsCentreAndSize(const std::string& tensor) const {
    int visits = 0;
    return IsPartOf(
        tensor, [&](const OnnxNode& node) { return Is(&node, "Sigmoid") || IsMadeOfCorners(node); },
        &visits);
  }

  // [(a + c) / 2, (b + d) / 2, c - a, d - b].
  bool IsMadeOfCorners(const OnnxNode& node) const {
    if (!Is(&node, "Concat") || node.inputs.size() != 4) return false;
    for (const size_t axis : {size_t{0}, size_t{1}}) {
      const OnnxNode* half = NumberAt(node.inputs[axis]);
      const OnnxNode* size = NumberAt(node.inputs[axis + 2]);
      if (half == nullptr || !IsOneOf(*half, {"Div", "Mul"}) || !Is(size, "Sub")) return false;
      const OnnxNode* sum = tensors_.MakerOf(half->inputs[0], "Add");
      if (sum == nullptr || !std::is_permutation(sum->inputs.begin(), sum->inputs.end(),
                                                 size->inputs.begin(), size->inputs.end())) {
        return false;
      }
    }
    return true;
  }

  const OnnxNode* NumberAt(const std::string& column) const {
    const OnnxNode* wider = tensors_.MakerOf(column, "Unsqueeze");
    return wider == nullptr ? nullptr : tensors_.MakerOf(wider->inputs[0]);
  }

  // Whether `choice` is TopK over sigmoid(logits), flattened over queries and classes.
  bool ChoosesScores(const OnnxNode* choice, const std::string& scores) const {
    if (choice == nullptr || choice->outputs.size() != 2 || choice->outputs[0] != scores) {
      return false;
    }
    const OnnxNode* flat = tensors_.MakerOf(choice->inputs[0]);
    if (flat == nullptr || !IsOneOf(*flat, {"Flatten", "Reshape"})) return false;
    const OnnxNode* sigmoid = tensors_.MakerOf(flat->inputs[0], "Sigmoid");
    return sigmoid != nullptr && IsLogits(sigmoid->inputs[0]);
  }

  // A label is the chosen flat index modulo the number of classes, exported as Mod or Sub.
  bool AreLabelsOf(const std::string& labels, const OnnxNode& choice) const {
    const OnnxNode* rest = tensors_.MakerOf(labels);
    return rest != nullptr && IsOneOf(*rest, {"Sub", "Mod"}) &&
           rest->inputs[0] == choice.outputs[1];
  }

  // Whether the boxes are shares of the picture times the size input.
  bool AreInPixels(const std::string& boxes, std::string_view size) const {
    const OnnxNode* taken = tensors_.MakerOf(boxes, "GatherElements");
    const OnnxNode* scaled = taken == nullptr ? nullptr : tensors_.MakerOf(taken->inputs[0], "Mul");
    if (scaled == nullptr) return false;
    return std::any_of(scaled->inputs.begin(), scaled->inputs.end(), [&](std::string_view factor) {
      for (int step = 0; step < kMostRenamed && factor != size; ++step) {
        const OnnxNode* maker = tensors_.MakerOf(factor);
        if (maker == nullptr ||
            !IsOneOf(*maker, {"Cast", "Concat", "Expand", "Reshape", "Tile", "Unsqueeze"})) {
          return false;
        }
        factor = maker->inputs[0];
      }
      return factor == size;
    });
  }

  const OnnxGraph& graph_;
  const GraphTensors tensors_;
  const int64_t classes_;
  const OnnxValueInfo* picture_;
};

// Width, height, width, height of the input: the factors of a box's x, y, x, y.
std::vector<float> Sides(const ModelInfo& info) {
  const auto width = static_cast<float>(info.input_width);
  const auto height = static_cast<float>(info.input_height);
  return {width, height, width, height};
}

// [batch, rows] -> a column of rows.
std::string Column(const std::string& tensor, std::string_view name, GraphExtension* extension) {
  return extension->Reshaped(tensor, {0, -1, 1}, name);
}

// The best of all pairs of query and class: as many as there are queries.
void AddChoice(const RawEnd& end, const ModelInfo& info, OnnxGraph* graph) {
  GraphExtension more(graph);
  const std::string scores = more.Add("Sigmoid", {end.logits}, "detr.scores");
  const std::string flat = more.Reshaped(scores, {0, -1}, "detr.pairs");
  const std::string shape = more.Add("Shape", {end.boxes}, "detr.shape");
  OnnxNode choice =
      GraphExtension::Node("TopK", {flat, more.Part(shape, 0, 1, 2, "detr.queries")}, "detr.best");
  choice.outputs.emplace_back("lattice.detr.places");
  const std::string best = more.Add(std::move(choice));
  OnnxNode cast = GraphExtension::Node("Cast", {"lattice.detr.places"}, "detr.place");
  cast.Set(IntegerAttribute("to", kFloat));
  const std::string place = more.Add(std::move(cast));

  // The half keeps the quotient away from whole numbers, whatever a device rounds.
  const std::string classes =
      more.Constant("detr.classes", {1}, std::vector{static_cast<float>(info.names.size())});
  const std::string half = more.Constant("detr.half", {1}, std::vector{0.5f});
  const std::string within = more.Add("Add", {place, half}, "detr.within");
  const std::string quotient = more.Add("Div", {within, classes}, "detr.quotient");
  const std::string query = more.Add("Floor", {quotient}, "detr.query");
  const std::string first = more.Add("Mul", {query, classes}, "detr.first");
  const std::string label = more.Add("Sub", {place, first}, "detr.label");

  OnnxNode number = GraphExtension::Node("Cast", {query}, "detr.number");
  number.Set(IntegerAttribute("to", kInt64));
  const std::string row = Column(more.Add(std::move(number)), "detr.row", &more);
  OnnxNode taken = GraphExtension::Node(
      "GatherElements", {end.boxes, more.Join({row, row, row, row}, 2, "detr.rows")}, "detr.taken");
  taken.Set(IntegerAttribute("axis", 1));
  const std::string shares = more.Add(std::move(taken));
  const std::string boxes =
      more.Add("Mul", {shares, more.Constant("detr.sides", {4}, Sides(info))}, "detr.boxes");
  const std::string centre = more.Part(boxes, 2, 0, 2, "detr.centre");
  const std::string reach =
      more.Add("Mul", {more.Part(boxes, 2, 2, 4, "detr.size"), half}, "detr.reach");
  more.SetOutput(more.Join({more.Add("Sub", {centre, reach}, "detr.upper_left"),
                            more.Add("Add", {centre, reach}, "detr.lower_right"),
                            Column(best, "detr.score", &more), Column(label, "detr.class", &more)},
                           2, "detr.found"));
}

// Gives the picture the size of the input, and joins the outputs.
void JoinOutputs(const DeployedEnd& end, const ModelInfo& info, OnnxGraph* graph) {
  GraphExtension more(graph);
  const std::string size =
      more.Constant("detr.size", {1, 2}, std::vector<int64_t>{info.input_width, info.input_height});
  for (OnnxNode& node : graph->nodes) {
    for (std::string& input : node.inputs) {
      if (input != end.size) continue;
      input = size;
      node.changed = true;
    }
  }
  std::erase_if(graph->inputs, [&](const OnnxValueInfo& input) { return input.name == end.size; });
  OnnxNode cast = GraphExtension::Node("Cast", {end.labels}, "detr.label");
  cast.Set(IntegerAttribute("to", kFloat));
  const std::string label = more.Add(std::move(cast));
  more.SetOutput(more.Join(
      {end.boxes, Column(end.scores, "detr.score", &more), Column(label, "detr.class", &more)}, 2,
      "detr.found"));
}

}  // namespace

bool TurnDetrIntoFinal(ModelInfo info, OnnxModel* model) {
  if (model->opset < kOldestOpset) return false;
  OnnxGraph& graph = model->graph;
  const DetrEnd end(graph, static_cast<int64_t>(info.names.size()));
  const OnnxValueInfo* picture = end.picture();
  if (picture == nullptr || !ResolveInput({picture->Shape()}, info).ok()) return false;
  const auto raw = end.FindRaw();
  const auto deployed = raw ? std::nullopt : end.FindDeployed();
  if (!raw && !deployed) return false;
  // The boxes are made for one size.
  for (OnnxValueInfo& input : graph.inputs) {
    if (&input == picture) input.CloseShape({-1, 3, info.input_height, info.input_width});
  }
  if (raw) {
    AddChoice(*raw, info, &graph);
  } else {
    JoinOutputs(*deployed, info, &graph);
  }
  return true;
}

}  // namespace lattice
