#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <openvino/openvino.hpp>
#include <optional>
#include <random>

#include "native/cpu/openvino_core.h"
#include "native/gpu/tensorrt/gpu_network.h"
#include "native/model/model_description.h"
#include "native/model/readable_layout.h"
#include "test/native/gpu/tensorrt/network_runner.h"
#include "test/native/model/graph_writer.h"

namespace lattice {
namespace {

constexpr int kWidth = 96;
constexpr int kHeight = 64;
constexpr int kQueries = 48;
constexpr int kClasses = 20;
constexpr int kChannels = 8;
constexpr size_t kPixels = size_t{kWidth} * kHeight;

std::vector<float> Noise(int count, float reach, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> any(-reach, reach);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = any(random);
  return values;
}

struct Form {
  bool of_corners = false;  // as D-FINE makes its boxes
  bool deployed = false;
  bool sides_open = false;
  int first_kernel = 3;
  std::string before_first = {};  // an operator
  std::string after_logits = {};
  std::string box_op = "Sigmoid";
  bool third_output = false;
  uint64_t opset = 17;
};

// Writes the ends of these networks behind a small backbone, whose cells are the queries.
class Detr {
 public:
  explicit Detr(const Form& form) : form_(form) {}

  std::string File() {
    AddQueries();
    AddLogits();
    AddBoxes();
    const int64_t height = form_.sides_open ? -1 : kHeight;
    const int64_t width = form_.sides_open ? -1 : kWidth;
    const std::string picture = test::TensorPort("images", kFloat, {1, 3, height, width});
    if (form_.deployed) {
      AddChoice();
      graph_.Input(test::TensorPort("sizes", kInt64, {1, 2}));
      graph_.Output(test::TensorPort("boxes", kFloat, {-1, -1, -1}));
      graph_.Output(test::TensorPort("scores", kFloat, {-1, -1}));
      return graph_.Model(picture, test::TensorPort("labels", kInt64, {-1, -1}), {}, form_.opset);
    }
    graph_.Output(test::TensorPort("pred_boxes", kFloat, {1, kQueries, -1}));
    if (form_.third_output) graph_.Output(test::TensorPort("queries", kFloat, {-1, -1, -1}));
    return graph_.Model(picture, test::TensorPort("logits", kFloat, {1, kQueries, kClasses}), {},
                        form_.opset);
  }

 private:
  void AddQueries() {
    std::string pixels = "images";
    if (!form_.before_first.empty()) {
      graph_.Initializer(test::Floats("mean", {1, 3, 1, 1}, {0.4f, 0.5f, 0.6f}));
      graph_.Node(form_.before_first, {pixels, "mean"}, {"normalised"});
      pixels = "normalised";
    }
    const int kernel = form_.first_kernel;
    const int pad = kernel / 2;
    graph_.Initializer(test::Floats("first.w", {kChannels, 3, kernel, kernel},
                                    Noise(kChannels * 3 * kernel * kernel, 1, 1)));
    graph_.Node("Conv", {pixels, "first.w"}, {"first"},
                test::Integers("strides", {2, 2}) + test::Integers("pads", {pad, pad, pad, pad}));
    graph_.Node("AveragePool", {"first"}, {"cells"},
                test::Integers("kernel_shape", {4, 8}) + test::Integers("strides", {4, 8}));
    graph_.Initializer(test::RawTensor<int64_t>("flat", kInt64, {3}, {1, kChannels, -1}));
    graph_.Node("Reshape", {"cells", "flat"}, {"columns"});
    graph_.Node("Transpose", {"columns"}, {"queries"}, test::Integers("perm", {0, 2, 1}));
  }

  // A linear layer of the queries.
  std::string Linear(const std::string& name, int columns, float reach, unsigned seed) {
    graph_.Initializer(
        test::Floats(name + ".w", {kChannels, columns}, Noise(kChannels * columns, reach, seed)));
    graph_.Initializer(test::Floats(name + ".b", {columns}, Noise(columns, 1, seed + 100)));
    graph_.Node("MatMul", {"queries", name + ".w"}, {name + ".product"});
    graph_.Node("Add", {name + ".product", name + ".b"}, {name});
    return name;
  }

  // Of two layers, of which the last one counts.
  void LastOf(const std::string& first, const std::string& last, const std::string& output) {
    graph_.Initializer(test::RawTensor<int64_t>(output + ".axis", kInt64, {1}, {1}));
    graph_.Initializer(test::RawTensor<int64_t>(output + ".last", kInt64, {}, {-1}));
    graph_.Node("Unsqueeze", {first, output + ".axis"}, {output + ".first"});
    graph_.Node("Unsqueeze", {last, output + ".axis"}, {output + ".second"});
    graph_.Node("Concat", {output + ".first", output + ".second"}, {output + ".all"},
                test::Integer("axis", 1));
    graph_.Node("Gather", {output + ".all", output + ".last"}, {output}, test::Integer("axis", 1));
  }

  void AddLogits() {
    const std::string first = Linear("logits0", kClasses, 0.7f, 2);
    std::string last = Linear("logits1", kClasses, 0.7f, 3);
    if (form_.of_corners) {
      graph_.Node("Add", {last, Linear("quality", 1, 0.3f, 4)}, {"logits2"});
      last = "logits2";
    }
    if (!form_.after_logits.empty()) {
      graph_.Node(form_.after_logits, {last}, {"changed"});
      last = "changed";
    }
    LastOf(first, last, "logits");
  }

  void AddBoxes() {
    graph_.Node(form_.box_op, {Linear("box0", 4, 2, 5)}, {"shares0"});
    graph_.Node(form_.box_op, {Linear("box1", 4, 2, 6)}, {"shares1"});
    LastOf("shares0", form_.of_corners ? MadeOfCorners("shares1") : "shares1", "pred_boxes");
  }

  // Centre and size, which may be negative here.
  std::string MadeOfCorners(const std::string& corners) {
    graph_.Initializer(test::RawTensor<int64_t>("column", kInt64, {1}, {2}));
    graph_.Initializer(test::Floats("two", {}, {2}));
    graph_.Node("Split", {corners}, {"x1.c", "y1.c", "x2.c", "y2.c"}, test::Integer("axis", 2));
    for (const std::string number : {"x1", "y1", "x2", "y2"}) {
      graph_.Node("Squeeze", {number + ".c", "column"}, {number});
    }
    for (const std::string axis : {"x", "y"}) {
      graph_.Node("Add", {axis + "1", axis + "2"}, {axis + ".sum"});
      graph_.Node("Div", {axis + ".sum", "two"}, {axis + ".centre"});
      graph_.Node("Sub", {axis + "2", axis + "1"}, {axis + ".size"});
    }
    std::vector<std::string> columns;
    for (const std::string number : {"x.centre", "y.centre", "x.size", "y.size"}) {
      columns.push_back(number + ".c");
      graph_.Node("Unsqueeze", {number, "column"}, {columns.back()});
    }
    graph_.Node("Concat", columns, {"made"}, test::Integer("axis", -1));
    return "made";
  }

  // As the networks' own postprocessing.
  void AddChoice() {
    graph_.Initializer(test::RawTensor<int64_t>("most", kInt64, {1}, {kQueries}));
    graph_.Initializer(test::RawTensor<int64_t>("classes", kInt64, {}, {kClasses}));
    graph_.Initializer(test::RawTensor<int64_t>("axis1", kInt64, {1}, {1}));
    graph_.Initializer(test::RawTensor<int64_t>("axis2", kInt64, {1}, {2}));
    graph_.Node("Sigmoid", {"logits"}, {"all_scores"});
    graph_.Node("Flatten", {"all_scores"}, {"pairs"}, test::Integer("axis", 1));
    graph_.Node("TopK", {"pairs", "most"}, {"scores", "places"}, test::Integer("axis", -1));
    graph_.Node("Div", {"places", "classes"}, {"query"});
    graph_.Node("Mul", {"query", "classes"}, {"before"});
    graph_.Node("Sub", {"places", "before"}, {"labels"});
    graph_.Initializer(test::Floats("corners_of", {4, 4},
                                    {1, 0, 1, 0, 0, 1, 0, 1, -.5f, 0, .5f, 0, 0, -.5f, 0, .5f}));
    graph_.Node("MatMul", {"pred_boxes", "corners_of"}, {"corners"});
    graph_.Node("Concat", {"sizes", "sizes"}, {"sides"}, test::Integer("axis", 1));
    graph_.Node("Unsqueeze", {"sides", "axis1"}, {"wide_sides"});
    graph_.Node("Cast", {"wide_sides"}, {"real_sides"}, test::Integer("to", kFloat));
    graph_.Node("Mul", {"corners", "real_sides"}, {"pixels"});
    graph_.Node("Unsqueeze", {"query", "axis2"}, {"row"});
    graph_.Node("Concat", {"row", "row", "row", "row"}, {"rows"}, test::Integer("axis", 2));
    graph_.Node("GatherElements", {"pixels", "rows"}, {"boxes"}, test::Integer("axis", 1));
  }

  const Form form_;
  test::GraphWriter graph_;
};

std::string Written(const Form& form) { return Detr(form).File(); }

ModelInfo Described(int classes = kClasses) {
  std::string names;
  for (int i = 0; i < classes; ++i) names += "'c" + std::to_string(i) + "',";
  return *DescribeMetadata(
      {{"names", "[" + names + "]"},
       {"imgsz", "[" + std::to_string(kHeight) + ", " + std::to_string(kWidth) + "]"}});
}

// The numbers of each output.
std::vector<std::vector<float>> OutputsOf(const std::string& file, std::vector<float> pixels) {
  const auto network = SharedCore().read_model(file, ov::Tensor());
  network->reshape(ov::PartialShape{1, 3, kHeight, kWidth});
  auto compiled =
      SharedCore().compile_model(network, "CPU", ov::hint::inference_precision(ov::element::f32));
  auto request = compiled.create_infer_request();
  request.set_input_tensor(ov::Tensor(ov::element::f32, {1, 3, kHeight, kWidth}, pixels.data()));
  request.infer();
  std::vector<std::vector<float>> outputs;
  for (size_t i = 0; i < compiled.outputs().size(); ++i) {
    const ov::Tensor output = request.get_output_tensor(i);
    outputs.emplace_back(output.data<float>(), output.data<float>() + output.get_size());
  }
  return outputs;
}

// Rows x1, y1, x2, y2, score, class, as the networks' own postprocessing gives them.
std::vector<std::vector<float>> BestPairs(const std::vector<float>& logits,
                                          const std::vector<float>& boxes) {
  std::vector<size_t> pairs(logits.size());
  std::iota(pairs.begin(), pairs.end(), size_t{0});
  std::stable_sort(pairs.begin(), pairs.end(),
                   [&](size_t a, size_t b) { return logits[a] > logits[b]; });
  std::vector<std::vector<float>> rows;
  for (size_t i = 0; i < kQueries; ++i) {
    const float* box = &boxes[pairs[i] / kClasses * 4];
    rows.push_back({(box[0] - box[2] / 2) * kWidth, (box[1] - box[3] / 2) * kHeight,
                    (box[0] + box[2] / 2) * kWidth, (box[1] + box[3] / 2) * kHeight,
                    1 / (1 + std::exp(-logits[pairs[i]])),
                    static_cast<float>(pairs[i] % kClasses)});
  }
  return rows;
}

std::vector<float> Picture() {
  std::vector<float> picture = Noise(3 * kPixels, 1, 77);
  for (float& value : picture) value = std::abs(value);
  return picture;
}

class DetrTest : public testing::TestWithParam<Form> {};

TEST_P(DetrTest, GivesTheBoxesOfItsOwnPostprocessing) {
  Form raw = GetParam();
  raw.deployed = false;
  const auto numbers = OutputsOf(Written(raw), Picture());
  const auto expected = BestPairs(numbers[0], numbers[1]);
  ModelInfo info = Described();
  const auto found = OutputsOf(WithReadableLayout(Written(GetParam()), &info), Picture());
  ASSERT_TRUE(info.stretched);
  EXPECT_TRUE(info.only_f32);
  ASSERT_EQ(found.size(), 1u);
  ASSERT_EQ(found[0].size(), size_t{6} * kQueries);
  for (size_t row = 0; row < kQueries; ++row) {
    for (size_t column = 0; column < 6; ++column) {
      ASSERT_NEAR(found[0][6 * row + column], expected[row][column], 1e-3f)
          << "column " << column << " of row " << row;
    }
  }
}

// As GPUs get it: half floats in, and all else in float32.
TEST_P(DetrTest, GivesTheSameBoxesWhenConvertedForAGpu) {
  ModelInfo info = Described();
  const std::string file = WithReadableLayout(Written(GetParam()), &info);
  info.input_width = kWidth;
  info.input_height = kHeight;
  info.fixed_batch = 1;
  const auto converted = GpuNetwork(file, info, std::nullopt);
  ASSERT_TRUE(converted.ok()) << converted.status().message();
  test::NetworkRunner runner(*converted, {1, 3, kHeight, kWidth});
  // Levels of 8 bits would differ in half floats: these do not.
  std::vector<float> picture(3 * kPixels);
  for (size_t i = 0; i < picture.size(); ++i) picture[i] = static_cast<float>(i * 37 % 64) / 64;
  const auto found = runner.Run(picture);
  ASSERT_EQ(found.shapes.at(0), (ov::Shape{1, kQueries, 6}));
  const auto expected = OutputsOf(file, picture);
  for (size_t i = 0; i < expected[0].size(); ++i) {
    ASSERT_NEAR(found.values[0][i], expected[0][i], 1e-3f) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, DetrTest,
                         testing::Values(Form{}, Form{.of_corners = true}, Form{.sides_open = true},
                                         Form{.deployed = true},
                                         Form{.of_corners = true, .deployed = true}));

TEST(DetrFormsTest, ClosesSidesThatAreOpen) {
  ModelInfo info = Described();
  const std::string file = WithReadableLayout(Written({.sides_open = true}), &info);
  const auto network = SharedCore().read_model(file, ov::Tensor());
  EXPECT_EQ(network->input().get_partial_shape(), (ov::PartialShape{1, 3, kHeight, kWidth}));
}

TEST(DetrFormsTest, LeavesEveryOtherModelAsItIs) {
  const auto is_left = [](const Form& form, int classes = kClasses) {
    ModelInfo info = Described(classes);
    const std::string file = Written(form);
    return WithReadableLayout(file, &info) == file && !info.stretched && !info.only_f32;
  };
  EXPECT_FALSE(is_left({}));
  EXPECT_TRUE(is_left({}, kClasses - 1));
  EXPECT_TRUE(is_left({.deployed = true}, kClasses + 1));
  EXPECT_TRUE(is_left({.first_kernel = 7}));
  EXPECT_TRUE(is_left({.before_first = "Sub"}));
  EXPECT_TRUE(is_left({.after_logits = "Sigmoid"}));
  EXPECT_TRUE(is_left({.deployed = true, .after_logits = "Tanh"}));
  EXPECT_TRUE(is_left({.box_op = "Relu"}));
  EXPECT_TRUE(is_left({.third_output = true}));
  EXPECT_TRUE(is_left({.opset = 12}));
}

}  // namespace
}  // namespace lattice
