#include "native/cpu/head_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <numeric>
#include <openvino/op/constant.hpp>
#include <openvino/op/parameter.hpp>
#include <openvino/op/util/shape_of_base.hpp>
#include <openvino/openvino.hpp>
#include <random>
#include <utility>
#include <vector>

#include "native/boxes/scale_view.h"
#include "native/cpu/openvino_core.h"

namespace lattice {
namespace {

// Tolerances for boxes, in input pixels, and for scores. Rounding is far below, another formula far
// above.
constexpr float kBoxTolerance = 0.05f;
constexpr float kScoreTolerance = 1e-4f;

// The network behind a head, with the head's tensors as inputs: boxes and classes of each scale.
struct Tail {
  std::shared_ptr<ov::Model> network;
  std::array<ov::Shape, 2 * kHeadScales> inputs;
};

// Replaces shape queries by constants, as shapes are static: their inputs may lie before the head,
// and the tail is compiled without that part.
void FoldShapes(const ov::Model& network) {
  for (const auto& node : network.get_ops()) {
    if (!std::dynamic_pointer_cast<ov::op::util::ShapeOfBase>(node)) continue;
    const ov::Shape& shape = node->get_input_shape(0);
    const auto sides =
        ov::op::v0::Constant::create(node->get_output_element_type(0), {shape.size()}, shape);
    node->output(0).replace(sides->output(0));
  }
}

// Throws where an input of the network is needed behind the head too.
std::optional<Tail> TailOf(const ov::Model& network, const DetectionHead& head) {
  FoldShapes(network);
  Tail tail;
  ov::ParameterVector inputs;
  for (size_t i = 0; i < 2 * kHeadScales; ++i) {
    const HeadScale& scale = head.scales[i / 2];
    const auto tensor = FindTensor(network, i % 2 == 0 ? scale.boxes : scale.classes);
    if (!tensor || !tensor->get_element_type().is_real()) return std::nullopt;
    tail.inputs[i] = tensor->get_shape();
    if (tail.inputs[i].size() != 4) return std::nullopt;
    inputs.push_back(
        std::make_shared<ov::op::v0::Parameter>(tensor->get_element_type(), tail.inputs[i]));
    ov::Output<ov::Node>(*tensor).replace(inputs.back()->output(0));
  }
  tail.network = std::make_shared<ov::Model>(network.get_results(), inputs);
  ov::preprocess::PrePostProcessor ports(tail.network);
  for (size_t i = 0; i < inputs.size(); ++i) {
    ports.input(i).tensor().set_element_type(ov::element::f32);
  }
  ports.output().tensor().set_element_type(ov::element::f32);
  tail.network = ports.build();
  return tail;
}

// Strides, classes and bins, where the head's shapes fit each other and the network's input.
std::optional<Head> Describe(const Tail& tail, const ov::Shape& image, const DetectionHead& found,
                             int classes) {
  Head head{HeadLayout::kScales, classes, found.bins, {}, false};
  for (size_t i = 0; i < kHeadScales; ++i) {
    const ov::Shape& boxes = tail.inputs[2 * i];
    const size_t stride = boxes[2] == 0 ? 0 : image[2] / boxes[2];
    const ov::Shape expected = {image[0], static_cast<size_t>(4 * found.bins), boxes[2], boxes[3]};
    const ov::Shape scores = {image[0], static_cast<size_t>(classes), boxes[2], boxes[3]};
    const bool fits = boxes == expected && tail.inputs[2 * i + 1] == scores &&
                      boxes[2] * stride == image[2] && boxes[3] * stride == image[3];
    if (!fits) return std::nullopt;
    head.strides[i] = static_cast<int>(stride);
  }
  return head;
}

struct Pair {
  size_t anchor;
  int class_id;
};

// Random numbers of a batch. Most scores are low; the scores of some pairs are higher, each well
// above the next, so that their order does not depend on rounding.
class Numbers {
 public:
  Numbers(const Tail& tail, const Head& head) : head_(head), batch_(tail.inputs[0][0]) {
    const bool bins = head.bins > 1;
    for (size_t i = 0; i < 2 * kHeadScales; ++i) {
      const bool boxes = i % 2 == 0;
      // Include negative distances: a network that clamps them computes other boxes than the core,
      // and must fail the check.
      std::uniform_real_distribution<float> values(boxes ? (bins ? -4.0f : -1.0f) : -9.0f,
                                                   boxes ? (bins ? 4.0f : 8.0f) : -5.0f);
      ov::Tensor tensor(ov::element::f32, tail.inputs[i]);
      std::generate_n(tensor.data<float>(), tensor.get_size(), [&] { return values(random_); });
      tensors_.push_back(std::move(tensor));
    }
  }

  const std::vector<ov::Tensor>& tensors() const { return tensors_; }
  size_t batch() const { return batch_; }

  size_t anchors() const {
    size_t sum = 0;
    for (size_t i = 0; i < kHeadScales; ++i) sum += Cells(i);
    return sum;
  }

  // Raises the scores of `count` random pairs of an image, and returns them best first. With
  // several classes, two pairs share an anchor.
  std::vector<Pair> RaisePairs(size_t image, size_t count) {
    std::vector<size_t> anchors(this->anchors());
    std::iota(anchors.begin(), anchors.end(), size_t{0});
    std::shuffle(anchors.begin(), anchors.end(), random_);
    std::vector<Pair> pairs;
    for (size_t i = 0; i < count; ++i) {
      const auto classes = static_cast<size_t>(head_.classes);
      const size_t place = classes > 1 ? i / 2 : i;
      const size_t class_id = (i + anchors[place]) % classes;
      pairs.push_back({anchors[place], static_cast<int>(class_id)});
      const Place at = PlaceOf(pairs.back().anchor);
      tensors_[2 * at.scale + 1]
          .data<float>()[(image * classes + class_id) * Cells(at.scale) + at.cell] =
          2 - 6 * static_cast<float>(i) / static_cast<float>(count);
    }
    return pairs;
  }

  Box BoxAt(size_t image, size_t anchor) const {
    const Place at = PlaceOf(anchor);
    return View(image, at.scale)
        .BoxAt(head_.bins, head_.strides[at.scale], static_cast<int>(at.cell));
  }

  float Score(size_t image, const Pair& pair) const {
    const Place at = PlaceOf(pair.anchor);
    return Sigmoid(View(image, at.scale).Logit(pair.class_id, static_cast<int>(at.cell)));
  }

 private:
  struct Place {
    size_t scale;
    size_t cell;
  };

  size_t Cells(size_t scale) const {
    const ov::Shape& shape = tensors_[2 * scale].get_shape();
    return shape[2] * shape[3];
  }

  Place PlaceOf(size_t anchor) const {
    size_t scale = 0;
    for (; anchor >= Cells(scale); ++scale) anchor -= Cells(scale);
    return {scale, anchor};
  }

  ScaleView<float> View(size_t image, size_t scale) const {
    const ov::Tensor& boxes = tensors_[2 * scale];
    const ov::Tensor& classes = tensors_[2 * scale + 1];
    return {boxes.data<float>() + image * boxes.get_size() / batch_,
            classes.data<float>() + image * classes.get_size() / batch_,
            static_cast<int>(boxes.get_shape()[3]), static_cast<int>(Cells(scale))};
  }

  const Head head_;
  const size_t batch_;
  std::mt19937 random_{1};
  std::vector<ov::Tensor> tensors_;
};

// NaN is near nothing.
bool IsNear(float a, float b, float tolerance) { return std::abs(a - b) <= tolerance; }

bool IsNear(const Box& a, const Box& b) {
  return IsNear(a.x1, b.x1, kBoxTolerance) && IsNear(a.y1, b.y1, kBoxTolerance) &&
         IsNear(a.x2, b.x2, kBoxTolerance) && IsNear(a.y2, b.y2, kBoxTolerance);
}

// `output` is [batch, 4 + classes, anchors].
bool AreRows(const Numbers& numbers, const Head& head, const float* output) {
  const size_t anchors = numbers.anchors();
  const auto rows = static_cast<size_t>(4 + head.classes);
  for (size_t image = 0; image < numbers.batch(); ++image) {
    const float* first = output + image * rows * anchors;
    for (size_t anchor = 0; anchor < anchors; ++anchor) {
      const auto row = [&](size_t number) { return first[number * anchors + anchor]; };
      const Box box = CornersOf(row(0), row(1), row(2), row(3));
      if (!IsNear(box, numbers.BoxAt(image, anchor))) return false;
      for (int c = 0; c < head.classes; ++c) {
        const float score = numbers.Score(image, {anchor, c});
        if (!IsNear(row(static_cast<size_t>(4 + c)), score, kScoreTolerance)) return false;
      }
    }
  }
  return true;
}

// `rows` are one image's, [pairs, 6].
bool AreBestPairs(const Numbers& numbers, size_t image, const std::vector<Pair>& pairs,
                  const float* rows) {
  for (const Pair& pair : pairs) {
    const bool same =
        IsNear({rows[0], rows[1], rows[2], rows[3]}, numbers.BoxAt(image, pair.anchor)) &&
        IsNear(rows[4], numbers.Score(image, pair), kScoreTolerance) &&
        rows[5] == static_cast<float>(pair.class_id);
    if (!same) return false;
    rows += 6;
  }
  return true;
}

std::optional<Head> Check(const std::shared_ptr<ov::Model>& network, const DetectionHead& found,
                          int classes) {
  const ov::Shape image = network->input().get_shape();
  const ov::PartialShape promised = network->output().get_partial_shape();
  if (image.size() != 4 || promised.is_dynamic() || promised.size() != 3) return std::nullopt;
  const ov::Shape output = promised.to_shape();
  const auto tail = TailOf(*network, found);
  if (!tail) return std::nullopt;
  auto head = Describe(*tail, image, found, classes);
  if (!head) return std::nullopt;

  Numbers numbers(*tail, *head);
  const ov::Shape rows = {image[0], static_cast<size_t>(4 + classes), numbers.anchors()};
  const ov::Shape pairs = {image[0], output[1], 6};
  head->one_to_one = output != rows;
  if (head->one_to_one && (output != pairs || output[1] > numbers.anchors())) return std::nullopt;
  std::vector<std::vector<Pair>> best;
  for (size_t i = 0; head->one_to_one && i < image[0]; ++i) {
    best.push_back(numbers.RaisePairs(i, output[1]));
  }
  auto compiled =
      SharedCore().compile_model(tail->network, "CPU", CpuProperties(1, 0, {.eight_bit = false}));
  auto request = compiled.create_infer_request();
  for (size_t i = 0; i < numbers.tensors().size(); ++i) {
    request.set_input_tensor(i, numbers.tensors()[i]);
  }
  request.infer();
  const ov::Tensor result = request.get_output_tensor();
  if (result.get_shape() != output) return std::nullopt;
  const float* values = result.data<float>();
  bool same = head->one_to_one || AreRows(numbers, *head, values);
  for (size_t i = 0; i < best.size(); ++i) {
    same = same && AreBestPairs(numbers, i, best[i], values + i * 6 * output[1]);
  }
  return same ? head : std::nullopt;
}

}  // namespace

std::optional<Head> CheckHead(const std::shared_ptr<ov::Model>& network, const DetectionHead& head,
                              int classes) {
  try {
    return Check(network, head, classes);
  } catch (const std::exception&) {
    return std::nullopt;  // it needs more than the head, or the library cannot run it alone
  }
}

std::optional<Head> CheckHead(const std::string& onnx, const DetectionHead& head,
                              const Shape& input, int classes) {
  try {
    const auto network = SharedCore().read_model(onnx, ov::Tensor());
    network->reshape(ov::PartialShape(std::vector<ov::Dimension>(input.begin(), input.end())));
    return Check(network, head, classes);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace lattice
