#include "native/model/model_description.h"

#include <algorithm>
#include <utility>

#include "native/model/class_names.h"
#include "native/model/python_literal.h"

namespace lattice {
namespace {

constexpr int kDefaultSide = 640;
constexpr int kMaxSide = 8192;
constexpr int kMaxBatch = 64;
constexpr int kMaxStride = 256;
// A message names as many; what a file declares may have no end.
constexpr size_t kMostListed = 8;

Status Refuse(std::string message) { return {StatusCode::kInvalidModel, std::move(message)}; }

std::string ListText(const std::vector<Shape>& shapes) {
  if (shapes.empty()) return "none";
  std::string text;
  for (size_t i = 0; i < std::min(shapes.size(), kMostListed); ++i) {
    text += (i > 0 ? ", " : "") + ToText(shapes[i]);
  }
  if (shapes.size() > kMostListed)
    text += " and more, " + std::to_string(shapes.size()) + " in all";
  return text;
}

// A dimension of the export, or what the metadata says where the export leaves it open.
int Side(int64_t exported, int from_metadata) {
  if (exported < 0) return from_metadata;
  return exported > kMaxSide ? 0 : static_cast<int>(exported);
}

// Columns of a network that suppresses by itself.
constexpr int64_t kFinalColumns = 6;
constexpr int64_t kMaxAnchors = 10'000'000;
constexpr int64_t kMostQueries = 1000;

constexpr const char* kDetrNeeds =
    "RT-DETR and D-FINE are read in float32, with logits and boxes as the only outputs or with the "
    "three outputs of their own export, and with a name for each class that the network has.";

constexpr const char* kOneOutput =
    "Needed is one output, of boxes; several are those of segmentation, of poses, or of a head "
    "without its end. Export a detector with task=detect.";

// [batch, queries, 4] beside something else.
bool HasDetrBoxes(const std::vector<Shape>& outputs) {
  return std::any_of(outputs.begin(), outputs.end(), [](const Shape& output) {
    return output.size() == 3 && output[2] == 4 && output[1] <= kMostQueries;
  });
}

// Cells of the three grids of the network's input.
int64_t CellsOf(const ModelInfo& info) {
  int64_t cells = 0;
  for (const int64_t stride : {8, 16, 32}) {
    cells += info.input_width / stride * (info.input_height / stride);
  }
  return cells;
}

// Which layout it looks like, and how to export the model again.
std::string Advice(const Shape& output, bool chooses_boxes, const ModelInfo& info) {
  const auto classes = static_cast<int64_t>(info.names.size());
  const auto rows = output.size() == 3 ? output[1] : 0;
  const auto columns = output.size() == 3 ? output[2] : 0;
  if (columns == 4 + classes && (chooses_boxes || rows <= kMostQueries)) {
    return "This is RT-DETR with boxes and scores in one output, which is not read. " +
           std::string(kDetrNeeds);
  }
  if (columns == 4 + classes) return "Rows and columns are swapped: export it without a transpose.";
  if (columns == 5 + classes && rows == CellsOf(info)) {
    return "A fifth column and a row per cell are those of YOLOX, which is read in one form only: "
           "its "
           "raw export in float32, without --decode_in_inference.";
  }
  if (columns == 5 + classes) {
    return "A fifth column is that of networks with anchor boxes (v5, v7): export one without "
           "them, such as yolov5nu.";
  }
  if (columns == kFinalColumns) {
    return "Nothing in the network chooses among its rows (TopK, NonMaxSuppression), so they are "
           "not "
           "boxes with their scores: export it without a transpose, and with the class names it "
           "was "
           "trained on.";
  }
  if (columns > kFinalColumns && columns < rows) {
    return "Rows of more columns are of masks, key points or turned boxes: export a detector with "
           "task=detect.";
  }
  return "Export a detector with task=detect, nms=False and end2end=False, and with the class "
         "names it was trained on.";
}

}  // namespace

std::string ToText(const Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < std::min(shape.size(), kMostListed); ++i) {
    if (i > 0) text += ", ";
    text += shape[i] < 0 ? "?" : std::to_string(shape[i]);
  }
  return text + (shape.size() > kMostListed ? ", ...]" : "]");
}

Result<ModelInfo> DescribeMetadata(std::map<std::string, std::string> metadata) {
  ModelInfo info;
  info.task = "detect";
  if (const auto task = metadata.find("task"); task != metadata.end() && task->second != "detect") {
    return Refuse("The model's task is '" + task->second.substr(0, 40) +
                  "'; a detector is needed: export one with task=detect.");
  }
  if (const auto head = metadata.find("head");
      head != metadata.end() && head->second.find("RTDETR") != std::string::npos) {
    return Refuse(
        "The model is an RT-DETR of an exporter that is not read: export another detector.");
  }
  const auto names = metadata.find("names");
  if (names == metadata.end()) {
    return Refuse(
        "The model has no class names: the metadata key 'names' is missing. Export it with "
        "metadata, or name them with `lattice model add --names`.");
  }
  auto parsed = ParseClassNames(names->second);
  if (!parsed.ok()) {
    return Refuse("The model's class names cannot be used: " + parsed.status().message() +
                  ". Name the classes with `lattice model add --names`.");
  }
  info.names = *std::move(parsed);
  if (const auto stride = metadata.find("stride"); stride != metadata.end()) {
    const auto values = ParseIntegers(stride->second);
    const int largest = values.ok() ? *std::max_element(values->begin(), values->end()) : 0;
    if (largest < 1 || largest > kMaxStride) {
      return Refuse("The model's stride cannot be read: '" + stride->second.substr(0, 40) + "'.");
    }
    info.stride = largest;
  }
  const auto is_set = [&](const char* key) {
    const auto found = metadata.find(key);
    return found != metadata.end() && found->second == kSet;
  };
  info.stretched = is_set(kStretchedKey);
  info.only_f32 = is_set(kOnlyF32Key);
  info.metadata = std::move(metadata);
  return info;
}

Result<Shape> ResolveInput(const std::vector<Shape>& inputs, ModelInfo& info) {
  constexpr const char* kNeeded = "; one image input [batch, 3, height, width] is needed.";
  if (inputs.size() != 1 || inputs[0].size() != 4 || (inputs[0][1] != 3 && inputs[0][1] != -1)) {
    const bool has_size = inputs.size() == 2 && inputs[1].size() == 2 && inputs[1][1] == 2;
    return Refuse("The model's inputs are " + ListText(inputs) + kNeeded +
                  (has_size ? std::string(" ") + kDetrNeeds : std::string()));
  }
  int height = kDefaultSide;
  int width = kDefaultSide;
  if (const auto imgsz = info.metadata.find("imgsz"); imgsz != info.metadata.end()) {
    const auto sides = ParseIntegers(imgsz->second);
    if (!sides.ok() || sides->size() > 2) {
      return Refuse("The model's imgsz cannot be read: '" + imgsz->second.substr(0, 40) + "'.");
    }
    height = sides->front();
    width = sides->back();
  }
  info.input_height = Side(inputs[0][2], height);
  info.input_width = Side(inputs[0][3], width);
  for (const int side : {info.input_height, info.input_width}) {
    if (side < 1 || side > kMaxSide || side % info.stride != 0) {
      return Refuse("The model's input is " + std::to_string(info.input_width) + " x " +
                    std::to_string(info.input_height) + " pixels; sides must be multiples of " +
                    std::to_string(info.stride) + " up to " + std::to_string(kMaxSide) + ".");
    }
  }
  const int64_t batch = inputs[0][0];
  if (batch == 0 || batch > kMaxBatch) {
    return Refuse("The model's batch is " + std::to_string(batch) + "; 1 to " +
                  std::to_string(kMaxBatch) + " or an open one is needed.");
  }
  info.fixed_batch = batch < 0 ? 0 : static_cast<int>(batch);
  return Shape{batch < 0 ? 1 : batch, 3, info.input_height, info.input_width};
}

Status CheckOutput(const std::vector<Shape>& outputs, int batch, bool chooses_boxes,
                   ModelInfo& info) {
  const auto classes = static_cast<int64_t>(info.names.size());
  info.head = {};
  info.head.classes = static_cast<int>(classes);
  const std::string found = "The model's outputs are " + ListText(outputs) + ". ";
  if (outputs.size() != 1) {
    return Refuse(found + (HasDetrBoxes(outputs) ? kDetrNeeds : kOneOutput));
  }
  const Shape& output = outputs[0];
  const bool fits_batch = output.size() == 3 && (output[0] == batch || output[0] < 0);
  if (fits_batch && output[2] == kFinalColumns && chooses_boxes) {
    info.head.layout = HeadLayout::kFinal;
    return {};
  }
  if (fits_batch && output[1] == 4 + classes && output[2] >= 1 && output[2] <= kMaxAnchors) {
    info.anchors = static_cast<int>(output[2]);
    return {};
  }
  return Refuse(found + "Needed is one output " + ToText(Shape{batch, 4 + classes}) +
                " with anchors last (4 + " + std::to_string(classes) + " classes), or " +
                ToText(Shape{batch, -1, kFinalColumns}) + " of corners, score and class. " +
                Advice(output, chooses_boxes, info));
}

}  // namespace lattice
