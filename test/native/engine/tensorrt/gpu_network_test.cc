// Networks for GPUs give the answers of the original ones, on OpenVINO.
#include "native/engine/tensorrt/gpu_network.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include "native/engine/openvino/openvino_network.h"
#include "native/engine/tensorrt/gpu_network.h"
#include "native/gpu_onnx/half_precision.h"
#include "native/gpu_onnx/size_folding.h"
#include "native/onnx/onnx_reader.h"
#include "test/native/gpu_onnx/type_checker.h"
#include "test/native/onnx/graph_writer.h"

namespace lattice {
namespace {

constexpr size_t kSide = 640;

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

std::vector<float> RunOne(OpenVinoNetwork& engine, const std::vector<float>& image) {
  NetworkItem item{image.data(), nullptr};
  const Status status = engine.Run(WorkClass::kSync, 0, {&item, 1});
  EXPECT_TRUE(status.ok()) << status.message();
  const auto rows = 4 + engine.info().names.size();
  return {item.output, item.output + rows * static_cast<size_t>(engine.info().anchors)};
}

std::unique_ptr<OpenVinoNetwork> Load(const std::string& path) {
  auto loaded = OpenVinoNetwork::Load(path, {"f32", 2, {1, 1}, {1, 0}});
  EXPECT_TRUE(loaded.ok()) << loaded.status().message();
  return loaded.ok() ? std::move(loaded->networks[0]) : nullptr;
}

// Boxes [4 rows] and scores of both outputs agree; returns how many anchors score above 0.25.
size_t ExpectSame(const std::vector<float>& exact, const std::vector<float>& half, size_t anchors) {
  const size_t rows = exact.size() / anchors;
  size_t found = 0;
  for (size_t a = 0; a < anchors; ++a) {
    float best = 0;
    for (size_t row = 4; row < rows; ++row) {
      const float score = exact[row * anchors + a];
      best = std::max(best, score);
      EXPECT_NEAR(half[row * anchors + a], score, 0.01) << "anchor " << a;
    }
    if (best <= 0.25f) continue;
    ++found;
    for (size_t axis = 0; axis < 2; ++axis) {
      for (const float side : {-0.5f, 0.5f}) {
        const auto corner = [&](const std::vector<float>& out) {
          return out[axis * anchors + a] + side * out[(2 + axis) * anchors + a];
        };
        EXPECT_NEAR(corner(half), corner(exact), 1.0) << "anchor " << a;
      }
    }
  }
  return found;
}

// Runs both on all pictures; returns how many anchors score above 0.25 in all.
size_t CompareModel(const std::string& path) {
  const auto exact_engine = Load(path);
  if (exact_engine == nullptr) return 0;
  ModelInfo info = exact_engine->info();
  info.fixed_batch = 0;
  const auto half = GpuNetwork(test::FileBytes(path), info);
  EXPECT_TRUE(half.ok()) << half.status().message();
  if (!half.ok()) return 0;
  const auto model = ReadOnnxModel(BytesOf(*half));
  EXPECT_EQ(test::TypeChecker().Complaints(*model), "");
  EXPECT_FALSE(ReckonsWithSizes(*model));
  EXPECT_EQ(model->graph.inputs.at(0).Shape(), (std::vector<int64_t>{-1, 3, kSide, kSide}));
  EXPECT_EQ(*ToHalfPrecision(BytesOf(*half)), *half);
  const std::string file = testing::TempDir() + "half-" + std::to_string(getpid()) + ".onnx";
  std::ofstream(file, std::ios::binary) << *half;
  const auto half_engine = Load(file);
  unlink(file.c_str());
  if (half_engine == nullptr) return 0;
  EXPECT_EQ(half_engine->info().names, exact_engine->info().names);
  size_t found = 0;
  for (const auto& image : {Street(), Sign(), Disc(), Drawing(1), Noise(2)}) {
    found += ExpectSame(RunOne(*exact_engine, image), RunOne(*half_engine, image),
                        static_cast<size_t>(exact_engine->info().anchors));
  }
  return found;
}

TEST(GpuNetworkTest, TestPatternModel) {
  EXPECT_GE(CompareModel(LATTICE_SOURCE_DIR "/models/tiny/tiny-v8.onnx"), 5u);
}

TEST(GpuNetworkTest, BundledModel) {
  const std::string path = LATTICE_SOURCE_DIR "/models/vehicles-v8n.onnx";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "left out: there is no " << path;
  EXPECT_GT(CompareModel(path), 0u);
}

TEST(GpuNetworkTest, PublicModel) {
  const std::string path = LATTICE_SOURCE_DIR "/../shared/testdata/models/yolov8n.onnx";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "left out: there is no " << path;
  EXPECT_GT(CompareModel(path), 0u);
}

}  // namespace
}  // namespace lattice
