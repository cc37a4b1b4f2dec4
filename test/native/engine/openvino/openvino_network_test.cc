#include "native/engine/openvino/openvino_network.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <thread>

#include "native/engine/openvino/cpu_precision.h"
#include "test/native/onnx/onnx_writer.h"

namespace lattice {
namespace {

const std::string kTiny = LATTICE_SOURCE_DIR "/models/tiny/tiny-v8.onnx";
const std::string kShared = LATTICE_SOURCE_DIR "/../shared/testdata/models/";

#define SKIP_WITHOUT(path) \
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "left out: there is no " << (path)

std::unique_ptr<OpenVinoNetwork> Load(const std::string& path,
                                      EngineOptions options = {"f32", 2, {1, 2}, {2, 3}}) {
  auto loaded = OpenVinoNetwork::Load(path, options);
  EXPECT_TRUE(loaded.ok()) << loaded.status().message();
  return loaded.ok() ? std::move(loaded->networks[0]) : nullptr;
}

size_t InputFloats(const OpenVinoNetwork& engine) {
  return size_t{3} * static_cast<size_t>(engine.info().input_width * engine.info().input_height);
}

size_t OutputSize(const OpenVinoNetwork& engine) {
  return (4 + engine.info().names.size()) * static_cast<size_t>(engine.info().anchors);
}

std::vector<float> Noise(size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(size);
  for (float& value : values) value = static_cast<float>(random() % 256) / 255.0f;
  return values;
}

std::vector<float> RunOne(OpenVinoNetwork& engine, int slot, const std::vector<float>& input,
                          WorkClass work_class = WorkClass::kSync) {
  NetworkItem item{input.data(), nullptr};
  const Status status = engine.Run(work_class, slot, {&item, 1});
  EXPECT_TRUE(status.ok()) << status.message();
  return {item.output, item.output + OutputSize(engine)};
}

TEST(OpenVinoNetworkTest, DescribesTheTinyModel) {
  const auto engine = Load(kTiny);
  ASSERT_NE(engine, nullptr);
  const ModelInfo& info = engine->info();
  EXPECT_EQ(info.names, (std::vector<std::string>{"car", "motorcycle", "bus", "truck"}));
  EXPECT_EQ(info.input_width, 640);
  EXPECT_EQ(info.anchors, 8400);
  EXPECT_EQ(info.device, "CPU");
  EXPECT_EQ(info.precision, "f32");
  EXPECT_EQ(info.metadata.at("task"), "detect");
  EXPECT_EQ(engine->slots(WorkClass::kSync), 2);
  EXPECT_EQ(engine->slots(WorkClass::kAsync), 3);
  EXPECT_EQ(engine->max_batch(), 1);
  EXPECT_FALSE(OpenVinoVersion().empty());
}

TEST(OpenVinoNetworkTest, OutputIsBitEqualWhateverLaneSlotAlignmentAndOrder) {
  const auto engine = Load(kTiny);
  const auto input = Noise(InputFloats(*engine), 1);
  const auto expected = RunOne(*engine, 0, input);
  std::vector<float> shifted(input.size() + 1);
  std::memcpy(shifted.data() + 1, input.data(), input.size() * sizeof(float));
  NetworkItem item{shifted.data() + 1, nullptr};
  ASSERT_TRUE(engine->Run(WorkClass::kSync, 1, {&item, 1}).ok());
  EXPECT_EQ(std::memcmp(item.output, expected.data(), expected.size() * sizeof(float)), 0);
  RunOne(*engine, 0, Noise(input.size(), 2));
  EXPECT_EQ(RunOne(*engine, 0, input), expected);
  for (int slot = 0; slot < 3; ++slot) {
    EXPECT_EQ(RunOne(*engine, slot, input, WorkClass::kAsync), expected);
  }
}

TEST(OpenVinoNetworkTest, SlotsRunAtTheSameTimeWithoutMixing) {
  const auto engine = Load(kTiny);
  std::vector<std::thread> threads;
  std::vector<int> wrong(5, 0);
  for (int row = 0; row < 5; ++row) {
    threads.emplace_back([&, row] {
      const WorkClass work_class = row < 2 ? WorkClass::kSync : WorkClass::kAsync;
      const int slot = row < 2 ? row : row - 2;
      const auto input = Noise(InputFloats(*engine), static_cast<unsigned>(row));
      const auto expected = RunOne(*engine, slot, input, work_class);
      for (int i = 0; i < 10; ++i)
        wrong[static_cast<size_t>(row)] += RunOne(*engine, slot, input, work_class) != expected;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, (std::vector<int>(5, 0)));
}

TEST(OpenVinoNetworkTest, RefusesWhatIsMissingEmptyOrDamaged) {
  EXPECT_EQ(OpenVinoNetwork::Load("/nonexistent.onnx", {}).status().code(),
            StatusCode::kUnknownModel);
  EXPECT_EQ(OpenVinoNetwork::Load("/tmp", {}).status().code(), StatusCode::kInvalidModel);
  const std::string path = testing::TempDir() + "model-" + std::to_string(getpid()) + ".onnx";
  std::ofstream(path, std::ios::binary).close();
  EXPECT_EQ(OpenVinoNetwork::Load(path, {}).status().message(), "The model file is empty.");

  std::ifstream file(kTiny, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  for (const size_t size : {whole.size() / 2, whole.size() - 1}) {
    std::ofstream(path, std::ios::binary) << whole.substr(0, size);
    EXPECT_EQ(OpenVinoNetwork::Load(path, {}).status().code(), StatusCode::kInvalidModel) << size;
  }
  // The outer message stays whole, the graph inside does not.
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    std::string damaged = whole;
    for (int i = 0; i < 40; ++i)
      damaged[random() % (damaged.size() / 2)] = static_cast<char>(random());
    std::ofstream(path, std::ios::binary) << damaged;
    const auto engine = OpenVinoNetwork::Load(path, {});
    if (!engine.ok()) {
      EXPECT_EQ(engine.status().code(), StatusCode::kInvalidModel);
      EXPECT_EQ(engine.status().message().find(path), std::string::npos);
    }
  }
  unlink(path.c_str());
}

std::string Saved(const std::string& model) {
  const std::string path = testing::TempDir() + "written-" + std::to_string(getpid()) + ".onnx";
  std::ofstream(path, std::ios::binary) << model;
  return path;
}

const std::map<std::string, std::string> kTwoClasses = {{"names", "{0: 'a', 1: 'b'}"}};

TEST(OpenVinoNetworkTest, FixedBatchesAreFilledUpAndTakenApart) {
  const auto engine = Load(Saved(test::ReshapeModel({4, 3, 32, 32}, {4, 6, 512}, kTwoClasses)));
  ASSERT_NE(engine, nullptr);
  EXPECT_EQ(engine->info().fixed_batch, 4);
  EXPECT_EQ(engine->max_batch(), 4);
  for (size_t count = 1; count <= 4; ++count) {
    std::vector<std::vector<float>> inputs;
    std::vector<NetworkItem> items;
    for (size_t i = 0; i < count; ++i)
      inputs.push_back(Noise(3 * 32 * 32, static_cast<unsigned>(i)));
    for (const auto& input : inputs) items.push_back({input.data(), nullptr});
    ASSERT_TRUE(engine->Run(WorkClass::kSync, 0, items).ok());
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(std::memcmp(items[i].output, inputs[i].data(), inputs[i].size() * sizeof(float)),
                0);
    }
  }
}

TEST(OpenVinoNetworkTest, OpenSidesTakeTheSizeOfTheMetadata) {
  auto metadata = kTwoClasses;
  metadata["imgsz"] = "[64, 32]";
  const auto engine = Load(Saved(test::ReshapeModel({-1, 3, -1, -1}, {0, 6, -1}, metadata)));
  ASSERT_NE(engine, nullptr);
  EXPECT_EQ(engine->info().input_height, 64);
  EXPECT_EQ(engine->info().input_width, 32);
  EXPECT_EQ(engine->info().anchors, 3 * 64 * 32 / 6);
  EXPECT_EQ(engine->info().fixed_batch, 0);
}

// A v8 head finds the four sides of a box from its anchor's place outwards.
void ExpectBoxesAroundTheirAnchors(OpenVinoNetwork& network) {
  const ModelInfo& info = network.info();
  const std::vector<float> output = RunOne(network, 0, Noise(InputFloats(network), 6));
  const auto anchors = static_cast<size_t>(info.anchors);
  const float* const rows[] = {output.data(), output.data() + anchors, output.data() + 2 * anchors,
                               output.data() + 3 * anchors};
  size_t anchor = 0;
  for (const int cell : {8, 16, 32}) {
    for (int y = 0; y < info.input_height / cell; ++y) {
      for (int x = 0; x < info.input_width / cell; ++x, ++anchor) {
        const float step = static_cast<float>(cell);
        const float place[] = {(static_cast<float>(x) + 0.5f) * step,
                               (static_cast<float>(y) + 0.5f) * step};
        for (size_t axis = 0; axis < 2; ++axis) {
          const float reach = rows[2 + axis][anchor] / 2 + 0.5f;
          ASSERT_LE(std::abs(rows[axis][anchor] - place[axis]), reach) << cell << ": " << x << y;
        }
      }
    }
  }
  EXPECT_EQ(anchor, anchors);
}

EngineOptions At(std::vector<InputSize> rectangles) {
  EngineOptions options{"f32", 2, {1, 1}, {1, 1}};
  options.rectangles = std::move(rectangles);
  return options;
}

std::vector<InputSize> SizesOf(const OpenVinoNetworks& loaded) {
  std::vector<InputSize> sizes;
  for (const auto& network : loaded.networks) {
    sizes.push_back({network->info().input_width, network->info().input_height});
  }
  return sizes;
}

TEST(OpenVinoNetworkTest, RunsAtRectanglesWithOpenAndWithFixedSides) {
  const std::string open = LATTICE_SOURCE_DIR "/models/vehicles-v8n.onnx";
  for (const std::string& path : {open, kShared + "yolov8n.onnx"}) {
    if (!std::filesystem::exists(path)) {
      std::cout << "left out: there is no " << path << "\n";
      continue;
    }
    const auto loaded = OpenVinoNetwork::Load(path, At({{640, 384}, {480, 640}, {640, 32}}));
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_EQ(SizesOf(*loaded),
              (std::vector<InputSize>{{640, 640}, {640, 384}, {480, 640}, {640, 32}}));
    for (const auto& network : loaded->networks) ExpectBoxesAroundTheirAnchors(*network);
  }
}

TEST(OpenVinoNetworkTest, RefusesRectanglesThatItCannotRunAt) {
  const std::string bundled = LATTICE_SOURCE_DIR "/models/vehicles-v8n.onnx";
  const auto refusal = [](const std::string& path, InputSize size) {
    const auto loaded = OpenVinoNetwork::Load(path, At({size}));
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_EQ(loaded->networks.size(), 1U);
    return loaded->without.at(0);
  };
  EXPECT_NE(refusal(bundled, {640, 640}).find("is not larger"), std::string::npos);
  EXPECT_NE(refusal(bundled, {672, 384}).find("is not larger"), std::string::npos);
  EXPECT_NE(refusal(bundled, {640, 390}).find("multiples of 32"), std::string::npos);
  EXPECT_EQ(refusal(bundled, {320, 320}),
            "The model cannot run at 320 x 320: one side must be that of its own input, 640 x 640, "
            "or no photo lies in it as large as there.");
  // Its anchors are no published ones.
  EXPECT_EQ(refusal(kTiny, {640, 384}),
            "The model cannot run at 640 x 384: its network fits its own input only.");
  const auto fixed = Saved(test::ReshapeModel({4, 3, 64, 32}, {4, 6, 1024}, kTwoClasses));
  EXPECT_NE(refusal(fixed, {32, 32}).find("its batch is fixed"), std::string::npos);
}

TEST(OpenVinoNetworkTest, HalfPrecisionPortsAreTakenAsFloats) {
  constexpr int kFloat16 = 10;
  const auto engine =
      Load(Saved(test::ReshapeModel({1, 3, 32, 32}, {1, 6, 512}, kTwoClasses, kFloat16)));
  ASSERT_NE(engine, nullptr);
  const auto input = Noise(3 * 32 * 32, 5);
  const auto output = RunOne(*engine, 0, input);
  for (size_t i = 0; i < input.size(); ++i) ASSERT_NEAR(output[i], input[i], 1e-3);
}

TEST(OpenVinoNetworkTest, RefusesWrongShapesAndTypes) {
  constexpr int kUint8 = 2;
  const auto refusal = [](const std::string& model) {
    const auto engine = OpenVinoNetwork::Load(Saved(model), {});
    EXPECT_EQ(engine.status().code(), StatusCode::kInvalidModel);
    return engine.status().message();
  };
  using test::ReshapeModel;
  EXPECT_NE(refusal(ReshapeModel({1, 3, 32, 32}, {1, 512, 6}, kTwoClasses)).find("[1, 512, 6]"),
            std::string::npos);
  EXPECT_NE(refusal(ReshapeModel({1, 1, 96, 32}, {1, 6, -1}, kTwoClasses)).find("[1, 1, 96, 32]"),
            std::string::npos);
  EXPECT_NE(refusal(ReshapeModel({1, 3, 32, 32}, {1, 6, 512}, {})).find("names"),
            std::string::npos);
  EXPECT_NE(
      refusal(ReshapeModel({1, 3, 32, 32}, {1, 6, 512}, kTwoClasses, kUint8)).find("floating"),
      std::string::npos);
  EXPECT_NE(
      refusal(ReshapeModel({1, 3, 32, 32}, {1, 7, 512}, kTwoClasses)).find("cannot be loaded"),
      std::string::npos);
}

TEST(OpenVinoNetworkTest, F32IsNotBf16) {
  SKIP_WITHOUT(kShared + "yolov8n.onnx");
  const auto bf16 = UsesBf16("bf16");
  if (!bf16.ok()) GTEST_SKIP() << "left out: " << bf16.status().message();
  const auto exact = Load(kShared + "yolov8n.onnx");
  const auto fast = Load(kShared + "yolov8n.onnx", {"bf16", 2, {}, {}});
  const auto input = Noise(InputFloats(*exact), 4);
  const auto a = RunOne(*exact, 0, input);
  const auto b = RunOne(*fast, 0, input);
  EXPECT_EQ(fast->info().precision, "bf16");
  EXPECT_NE(a, b);
  for (size_t i = 4 * 8400; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 0.05);
}

TEST(OpenVinoNetworkTest, LoadsPublicDetectorsAndRefusesOtherTasks) {
  SKIP_WITHOUT(kShared);
  EXPECT_EQ(Load(kShared + "yolov8n.onnx")->info().fixed_batch, 0);
  EXPECT_EQ(Load(kShared + "yolov8n-uint8.onnx")->info().fixed_batch, 1);
  EXPECT_EQ(Load(kShared + "kitti-3class-int8.onnx")->info().names.back(), "Cyclist");
  for (const char* name : {"yolov8n-seg-uint8.onnx", "yolov8n-pose-uint8.onnx"}) {
    const auto refused = OpenVinoNetwork::Load(kShared + name, {});
    EXPECT_EQ(refused.status().code(), StatusCode::kInvalidModel);
    EXPECT_NE(refused.status().message().find("task"), std::string::npos);
  }
}

}  // namespace
}  // namespace lattice
