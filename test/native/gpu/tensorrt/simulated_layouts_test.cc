// Exports of other families on a simulated GPU, beside the same file on the CPU. In builds with
// LATTICE_SIMULATED_GPU only.
#ifdef LATTICE_SIMULATED_GPU
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "native/cpu/cpu_engine.h"
#include "native/gpu/gpu_engine.h"
#include "test/native/engine/tiny_scene.h"
#include "test/native/engine/whole_gpu_engine.h"
#include "test/native/layouts/detr_writer.h"
#include "test/native/layouts/nanodet_writer.h"
#include "test/native/layouts/yolox_writer.h"
#include "test/native/simulated_cuda/simulated_gpus.h"

namespace lattice {
namespace {

struct Export {
  std::string name;
  std::string file;
  bool stretched;
};

void PrintTo(const Export& kind, std::ostream* out) { *out << kind.name; }

std::string Detr(const test::DetrForm& form) {
  std::string names;
  for (int i = 0; i < test::kDetrClasses; ++i) names += "'c" + std::to_string(i) + "',";
  return test::Detr(form).File({{"names", "[" + names + "]"}, {"imgsz", "[64, 96]"}});
}

const std::string kTwo = "['car', 'bus']";

class SimulatedLayouts : public testing::TestWithParam<Export> {};

// Boxes of a batch of these scenes, in slot 0.
std::vector<Boxes> BoxesOf(Engine& engine, const std::vector<unsigned>& seeds) {
  DetectionOptions all;
  all.confidence = 0.2f;
  all.iou = 1;
  std::vector<std::unique_ptr<EngineInput>> inputs;
  std::vector<EngineItem> items;
  for (const unsigned seed : seeds) {
    inputs.push_back(*TakeWhole(engine, Scene(seed, 300, 200)));
    items.push_back({inputs.back().get(), &all});
  }
  EXPECT_TRUE(engine.Run(WorkClass::kAsync, 0, Width::kOneShare, items).ok());
  std::vector<Boxes> boxes;
  for (size_t i = 0; i < items.size(); ++i) {
    boxes.push_back(RowsOf(engine.Detect(WorkClass::kAsync, 0, i)));
  }
  return boxes;
}

TEST_P(SimulatedLayouts, RunFullBatchesWithTheBoxesOfTheCpu) {
  simulated::PlugIn({{}});
  const std::string path =
      std::filesystem::path(testing::TempDir()) / ("layout-" + std::to_string(getpid()) + ".onnx");
  std::ofstream(path, std::ios::binary) << GetParam().file;
  GpuEngineOptions options;
  options.batches = {1, 4};
  const auto gpu = LoadWholeGpuEngine(path, options);
  ASSERT_TRUE(gpu.ok()) << gpu.status().message();
  EXPECT_TRUE((*gpu)->info().without.empty());
  EXPECT_EQ((*gpu)->info().precision, "fp32");
  EXPECT_EQ((*gpu)->info().stretched, GetParam().stretched);
  EXPECT_EQ((*gpu)->max_batch(WorkClass::kAsync), 4);
  EngineOptions exact;
  exact.precision = "f32";
  const auto cpu = LoadCpuEngine(path, exact);
  ASSERT_TRUE(cpu.ok()) << cpu.status().message();
  const std::vector<Boxes> batch = BoxesOf(**gpu, {1, 2, 3, 4});
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const Boxes expected = BoxesOf(**cpu, {seed})[0];
    EXPECT_GT(expected.size(), 10u);
    size_t found = 0;
    for (const auto& box : expected) {
      const Boxes& boxes = batch[seed - 1];
      found += std::any_of(boxes.begin(), boxes.end(), [&](const auto& other) {
        bool same = other[5] == box[5] && std::abs(other[4] - box[4]) < 0.01f;
        for (size_t i = 0; i < 4; ++i) same = same && std::abs(other[i] - box[i]) < 1;
        return same;
      });
    }
    EXPECT_GE(found, expected.size() * 98 / 100) << "scene " << seed;
    EXPECT_LE(batch[seed - 1].size(), expected.size() * 102 / 100 + 1) << "scene " << seed;
  }
  std::filesystem::remove(path);
}

// The usual exports of the first two fix a batch of 1.
INSTANTIATE_TEST_SUITE_P(
    All, SimulatedLayouts,
    testing::Values(Export{"yolox", test::Yolox({}, {{"names", kTwo}}), false},
                    Export{"nanodet", test::Nanodet({}, {{"names", kTwo}}), true},
                    Export{"detr", Detr({.batch_open = true}), true},
                    Export{"detr_deployed", Detr({.deployed = true, .batch_open = true}), true},
                    Export{"dfine", Detr({.of_corners = true, .batch_open = true}), true},
                    Export{"dfine_deployed",
                           Detr({.of_corners = true, .deployed = true, .batch_open = true}), true}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace lattice
#endif  // LATTICE_SIMULATED_GPU
