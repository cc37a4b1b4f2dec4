// Networks for GPUs give the answers of the original ones, on OpenVINO.
#include "native/gpu/tensorrt/gpu_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "native/boxes/detections.h"
#include "native/cpu/head_check.h"
#include "native/model/onnx_reader.h"
#include "test/native/gpu/onnx/type_checker.h"
#include "test/native/gpu/tensorrt/network_runner.h"
#include "test/native/model/graph_writer.h"
#include "test/native/model/head_writer.h"

namespace lattice {
namespace {

constexpr size_t kSide = 640;
const std::string kShared = LATTICE_SOURCE_DIR "/../shared/testdata/models/";

struct Rectangle {
  size_t x, y, width, height;
  float red, green, blue;
};

void Paint(std::vector<float>& image, const Rectangle& box) {
  for (size_t y = box.y; y < std::min(kSide, box.y + box.height); ++y) {
    for (size_t x = box.x; x < std::min(kSide, box.x + box.width); ++x) {
      image[y * kSide + x] = box.red;
      image[kSide * kSide + y * kSide + x] = box.green;
      image[2 * kSide * kSide + y * kSide + x] = box.blue;
    }
  }
}

// The flat rectangles that the test-pattern model knows, each centred on an anchor.
std::vector<float> Street() {
  std::vector<float> image(3 * kSide * kSide, 128 / 255.0f);
  Paint(image, {64, 112, 224, 128, 40 / 255.0f, 180 / 255.0f, 60 / 255.0f});
  Paint(image, {408, 136, 160, 96, 40 / 255.0f, 60 / 255.0f, 220 / 255.0f});
  Paint(image, {60, 332, 96, 64, 220 / 255.0f, 40 / 255.0f, 40 / 255.0f});
  Paint(image, {268, 332, 96, 64, 223 / 255.0f, 43 / 255.0f, 43 / 255.0f});
  Paint(image, {452, 348, 48, 48, 230 / 255.0f, 210 / 255.0f, 40 / 255.0f});
  return image;
}

// A sky over a street.
std::vector<float> Horizon() {
  std::vector<float> image(3 * kSide * kSide, 0.45f);
  Paint(image, {0, 0, kSide, 400, 0.6f, 0.75f, 0.95f});
  return image;
}

// Boxes with wheels and windows on a street.
std::vector<float> Drawing(unsigned seed) {
  std::mt19937 random(seed);
  const auto shade = [&] { return static_cast<float>(random() % 256) / 255.0f; };
  auto image = Horizon();
  for (int i = 0; i < 6; ++i) {
    const size_t x = random() % 480;
    const size_t y = 200 + random() % 240;
    const size_t size = 60 + random() % 120;
    Paint(image, {x, y, size * 2, size / 2, shade(), shade(), shade()});
    Paint(image, {x + size / 2, y - size / 3, size, size / 3, 0.7f, 0.8f, 0.85f});
    Paint(image, {x + size / 4, y + size / 2, size / 4, size / 4, 0.1f, 0.1f, 0.1f});
    Paint(image, {x + 3 * size / 2, y + size / 2, size / 4, size / 4, 0.1f, 0.1f, 0.1f});
  }
  return image;
}

void PaintDisc(std::vector<float>& image, size_t radius, const Rectangle& centre) {
  const auto distance = [](size_t a, size_t b) { return a > b ? a - b : b - a; };
  for (size_t y = centre.y - radius; y <= centre.y + radius; ++y) {
    for (size_t x = centre.x - radius; x <= centre.x + radius; ++x) {
      const size_t dx = distance(x, centre.x);
      const size_t dy = distance(y, centre.y);
      if (dx * dx + dy * dy > radius * radius) continue;
      Paint(image, {x, y, 1, 1, centre.red, centre.green, centre.blue});
    }
  }
}

// A red sign with a white bar on a post: a stop sign to the public models.
std::vector<float> Sign() {
  auto image = Horizon();
  Paint(image, {312, 300, 16, 340, 0.4f, 0.4f, 0.4f});
  PaintDisc(image, 100, {320, 220, 0, 0, 0.9f, 0.9f, 0.9f});
  PaintDisc(image, 90, {320, 220, 0, 0, 0.75f, 0.05f, 0.1f});
  Paint(image, {250, 200, 140, 40, 0.95f, 0.95f, 0.95f});
  return image;
}

// A yellow disc in the sky: a frisbee to the public models.
std::vector<float> Disc() {
  auto image = Horizon();
  PaintDisc(image, 60, {320, 300, 0, 0, 0.9f, 0.9f, 0.2f});
  return image;
}

std::vector<float> Noise(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> image(3 * kSide * kSide);
  for (float& value : image) value = static_cast<float>(random() % 256) / 255.0f;
  return image;
}

test::NetworkOutputs RunOne(const std::string& onnx, const std::vector<float>& image) {
  return test::NetworkRunner(onnx, {1, 3, kSide, kSide}).Run(image);
}

// Every box of `expected` is in `boxes`, nearly.
void ExpectSame(const Detections& boxes, const Detections& expected) {
  EXPECT_EQ(boxes.boxes.size(), expected.boxes.size());
  for (const Detection& box : expected.boxes) {
    EXPECT_TRUE(std::any_of(boxes.boxes.begin(), boxes.boxes.end(),
                            [&](const Detection& other) {
                              return other.class_id == box.class_id &&
                                     std::abs(other.score - box.score) < 0.01f &&
                                     std::abs(other.x1 - box.x1) < 1 &&
                                     std::abs(other.y1 - box.y1) < 1 &&
                                     std::abs(other.x2 - box.x2) < 1 &&
                                     std::abs(other.y2 - box.y2) < 1;
                            }))
        << box.x1 << ", " << box.y1 << " scores " << box.score;
  }
}

struct Network {
  Head head;
  std::optional<DetectionHead> cut;
  std::string original;  // cut, where it may be
  std::string converted;
};

Network Convert(const std::string& onnx, int classes) {
  Network network;
  network.head.classes = classes;
  auto model = *ReadOnnxModel(BytesOf(onnx));
  network.cut = FindDetectionHead(model, classes);
  const auto head =
      network.cut ? CheckHead(onnx, *network.cut, {1, 3, kSide, kSide}, classes) : std::nullopt;
  if (!head) network.cut.reset();
  if (head) {
    network.head = *head;
    CutAtHead(&model, *network.cut);
  }
  network.original = WriteOnnxModel(model);
  ModelInfo info;
  info.input_width = info.input_height = static_cast<int>(kSide);
  auto converted = GpuNetwork(onnx, info, network.cut);
  EXPECT_TRUE(converted.ok()) << converted.status().message();
  if (converted.ok()) network.converted = *std::move(converted);
  return network;
}

void ExpectTypes(const Network& network) {
  const auto model = ReadOnnxModel(BytesOf(network.converted));
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(test::TypeChecker(network.cut ? kFloat16 : kFloat).Complaints(*model), "");
  const std::vector<int64_t> sides = model->graph.inputs.at(0).Shape();
  EXPECT_EQ(sides.at(2), int64_t{kSide});
  EXPECT_EQ(sides.at(3), int64_t{kSide});
  ASSERT_EQ(model->graph.outputs.size(), network.cut ? 2 * kHeadScales : 1);
  for (size_t i = 0; network.cut && i < 2 * kHeadScales; ++i) {
    const HeadScale& scale = network.cut->scales[i / 2];
    EXPECT_EQ(model->graph.outputs[i].name, i % 2 == 0 ? scale.boxes : scale.classes);
  }
}

// Runs both on all pictures; returns how many boxes there are in all.
size_t CompareModel(const std::string& path, int classes, bool is_cut) {
  const Network network = Convert(test::FileBytes(path), classes);
  EXPECT_EQ(network.cut.has_value(), is_cut);
  ExpectTypes(network);
  if (testing::Test::HasFailure()) return 0;
  const ov::Shape input = {1, 3, kSide, kSide};
  test::NetworkRunner original(network.original, input);
  test::NetworkRunner converted(network.converted, input);
  const LetterboxTransform same = ComputeLetterbox(kSide, kSide, kSide, kSide);
  size_t found = 0;
  for (const auto& image : {Street(), Sign(), Disc(), Drawing(1), Noise(2)}) {
    const Detections expected = original.Run(image).BoxesOf(network.head, 0, same, {});
    ExpectSame(converted.Run(image).BoxesOf(network.head, 0, same, {}), expected);
    found += expected.boxes.size();
  }
  return found;
}

// Its end is none that is known, so it runs whole.
TEST(GpuNetworkTest, TestPatternModel) {
  EXPECT_GE(CompareModel(LATTICE_SOURCE_DIR "/models/tiny/tiny-v8.onnx", 4, false), 5u);
}

TEST(GpuNetworkTest, BundledModel) {
  const std::string path = LATTICE_SOURCE_DIR "/models/vehicles-v8n.onnx";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "left out: there is no " << path;
  EXPECT_GT(CompareModel(path, 4, true), 0u);
}

TEST(GpuNetworkTest, PublicModel) {
  const std::string path = kShared + "yolov8n.onnx";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "left out: there is no " << path;
  EXPECT_GT(CompareModel(path, 80, true), 0u);
}

// Every layout of head that the writer knows: types and names of the outputs, and the boxes.
TEST(GpuNetworkTest, WrittenHeads) {
  for (const bool joins_kinds : {false, true}) {
    for (const bool one_to_one : {false, true}) {
      for (const int bins : {1, kDflBins}) {
        test::HeadOptions options;
        options.width = options.height = static_cast<int>(kSide);
        options.bins = bins;
        options.joins_kinds = joins_kinds;
        options.one_to_one = one_to_one;
        const Network network = Convert(test::HeadWriter(options).Model(), options.classes);
        ASSERT_TRUE(network.cut.has_value());
        EXPECT_EQ(network.head.one_to_one, one_to_one);
        ExpectTypes(network);
        const auto image = Noise(3);
        const test::NetworkOutputs expected = RunOne(network.original, image);
        const test::NetworkOutputs found = RunOne(network.converted, image);
        ASSERT_EQ(found.shapes, expected.shapes);
        for (size_t i = 0; i < found.values.size(); ++i) {
          for (size_t k = 0; k < found.values[i].size(); ++k) {
            ASSERT_NEAR(found.values[i][k], expected.values[i][k], 0.05);
          }
        }
      }
    }
  }
}

// Three images of one run have the numbers of three runs.
void ExpectOpenBatch(const std::string& converted, size_t side) {
  const auto model = ReadOnnxModel(BytesOf(converted));
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->graph.inputs.at(0).Shape().at(0), -1);
  std::mt19937 random(5);
  std::vector<float> images(3 * 3 * side * side);
  for (float& value : images) value = static_cast<float>(random() % 256) / 255.0f;
  const test::NetworkOutputs all = test::NetworkRunner(converted, {3, 3, side, side}).Run(images);
  test::NetworkRunner alone(converted, {1, 3, side, side});
  for (size_t image = 0; image < 3; ++image) {
    const auto from = images.begin() + static_cast<ptrdiff_t>(image * images.size() / 3);
    const test::NetworkOutputs one =
        alone.Run({from, from + static_cast<ptrdiff_t>(images.size() / 3)});
    for (size_t i = 0; i < one.values.size(); ++i) {
      const size_t count = one.values[i].size();
      ASSERT_EQ(all.values[i].size(), 3 * count);
      for (size_t k = 0; k < count; ++k) {
        ASSERT_NEAR(all.values[i][image * count + k], one.values[i][k], 0.02);
      }
    }
  }
}

TEST(GpuNetworkTest, AFixedBatchIsOpened) {
  test::HeadOptions options;
  const std::string onnx = test::HeadWriter(options).Model();
  const auto model = *ReadOnnxModel(BytesOf(onnx));
  const auto head = FindDetectionHead(model, options.classes);
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(BatchHeldBy(model, head), "");
  ModelInfo info;
  info.input_width = info.input_height = options.width;
  const auto converted = GpuNetwork(onnx, info, head);
  ASSERT_TRUE(converted.ok()) << converted.status().message();
  ExpectOpenBatch(*converted, static_cast<size_t>(options.width));
}

// As v11 and later have it between their last layers.
TEST(GpuNetworkTest, AttentionIsOpened) {
  test::GraphWriter graph;
  const auto shape = [](const std::string& name, const std::vector<int64_t>& sides) {
    return test::RawTensor(name, kInt64, {static_cast<int64_t>(sides.size())}, sides);
  };
  graph.Initializer(shape("flat", {1, 1, 3, 64})).Initializer(shape("square", {1, 3, 8, 8}));
  graph.Node("Reshape", {"images", "flat"}, {"v"});
  graph.Node("Transpose", {"v"}, {"q"}, test::Integers("perm", {0, 1, 3, 2}));
  graph.Node("MatMul", {"q", "v"}, {"scores"});
  graph.Node("Softmax", {"scores"}, {"weights"}, test::Integer("axis", -1));
  graph.Node("MatMul", {"v", "weights"}, {"mixed"});
  graph.Node("Reshape", {"mixed", "square"}, {"output0"});
  ModelInfo info;
  info.input_width = info.input_height = 8;
  const auto converted = GpuNetwork(graph.Model(), info, std::nullopt);
  ASSERT_TRUE(converted.ok()) << converted.status().message();
  ExpectOpenBatch(*converted, 8);
}

TEST(GpuNetworkTest, RefusesQuantisedModelsAndSaysWhatToDo) {
  test::HeadOptions options;
  options.quantised = true;
  const auto refused = GpuNetwork(test::HeadWriter(options).Model(), {}, std::nullopt);
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidModel);
  const std::string sentence = refused.status().message();
  for (const char* part : {"quantised to 8 bits", "QuantizeLinear", "f32 export", "on the CPU"}) {
    EXPECT_NE(sentence.find(part), std::string::npos) << sentence;
  }
}

TEST(GpuNetworkTest, RefusesEachOperatorOf8Bits) {
  for (const char* op :
       {"DequantizeLinear", "DynamicQuantizeLinear", "QLinearConv", "ConvInteger", "MatMulInteger",
        // Those of ONNX Runtime.
        "QLinearAdd", "QGemm", "QAttention", "MatMulIntegerToFloat", "DynamicQuantizeMatMul"}) {
    test::GraphWriter graph;
    graph.Node(op, {"images", "scale"}, {"output0"});
    const auto refused = GpuNetwork(graph.Model(), {}, std::nullopt);
    EXPECT_EQ(refused.status().code(), StatusCode::kInvalidModel) << op;
    const std::string sentence = refused.status().message();
    EXPECT_NE(sentence.find("quantised to 8 bits"), std::string::npos) << op << ": " << sentence;
    EXPECT_NE(sentence.find(op), std::string::npos) << sentence;
  }
}

TEST(GpuNetworkTest, TakesAnOperatorOfFloatsWhoseNameBeginsWithQ) {
  test::GraphWriter graph;
  graph.Node("QuickGelu", {"images"}, {"output0"});
  const auto converted = GpuNetwork(graph.Model(), {}, std::nullopt);
  EXPECT_EQ(converted.status().message().find("quantised"), std::string::npos);
}

}  // namespace
}  // namespace lattice
