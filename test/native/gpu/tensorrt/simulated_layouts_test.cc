// A YOLOX export on a simulated GPU, beside the same file on the CPU. In builds with
// LATTICE_SIMULATED_GPU only.
#ifdef LATTICE_SIMULATED_GPU
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "native/cpu/cpu_engine.h"
#include "native/engine/gpu_engine.h"
#include "test/native/engine/tiny_scene.h"
#include "test/native/engine/whole_gpu_engine.h"
#include "test/native/model/yolox_writer.h"
#include "test/native/simulated_cuda/simulated_gpus.h"

namespace lattice {
namespace {

// Of a batch of these scenes, in slot 0.
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

// The usual export fixes a batch of 1.
TEST(SimulatedYolox, RunsFullBatchesWithTheBoxesOfTheCpu) {
  simulated::PlugIn({{}});
  const std::string path =
      std::filesystem::path(testing::TempDir()) / ("yolox-" + std::to_string(getpid()) + ".onnx");
  std::ofstream(path, std::ios::binary) << test::Yolox({}, {{"names", "['car', 'bus']"}});
  GpuEngineOptions options;
  options.batches = {1, 4};
  const auto gpu = LoadWholeGpuEngine(path, options);
  ASSERT_TRUE(gpu.ok()) << gpu.status().message();
  EXPECT_TRUE((*gpu)->info().without.empty());
  EXPECT_EQ((*gpu)->max_batch(WorkClass::kAsync), 4);
  EngineOptions exact;
  exact.precision = "f32";
  const auto cpu = LoadCpuEngine(path, exact);
  ASSERT_TRUE(cpu.ok()) << cpu.status().message();
  const std::vector<Boxes> batch = BoxesOf(**gpu, {1, 2, 3, 4});
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const Boxes expected = BoxesOf(**cpu, {seed})[0];
    EXPECT_GT(expected.size(), 20u);
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

}  // namespace
}  // namespace lattice
#endif  // LATTICE_SIMULATED_GPU
