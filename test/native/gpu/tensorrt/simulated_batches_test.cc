// Batch sizes that are added to a GPU engine while it serves. In builds with LATTICE_SIMULATED_GPU
// only.
#ifdef LATTICE_SIMULATED_GPU
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "native/gpu/gpu_engine.h"
#include "test/native/engine/tiny_scene.h"
#include "test/native/engine/whole_gpu_engine.h"
#include "test/native/model/head_writer.h"
#include "test/native/simulated_cuda/simulated_gpus.h"

namespace lattice {
namespace {

using simulated::Call;

class SimulatedBatchesTest : public testing::Test {
 protected:
  void SetUp() override {
    simulated::PlugIn({{}});
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("lattice-batches-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
    options_.kept_folder = folder_;
    options_.batches = {1, 4, 8};
    test::HeadOptions head;
    head.batch = 0;
    model_ = folder_ / "head.onnx";
    std::ofstream(model_, std::ios::binary) << test::HeadWriter(head).Model();
    asked_.confidence = 0.05f;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<Engine> First(const OnEngineBuild& on_build = nullptr) {
    auto engine = LoadGpuEngine(model_, options_, on_build);
    EXPECT_TRUE(engine.ok()) << engine.status().message();
    return engine.ok() ? *std::move(engine) : nullptr;
  }

  // As many images as the class takes at present; the boxes of the first one.
  Result<Boxes> RunFull(Engine& engine, WorkClass work_class, int slot) {
    std::vector<std::unique_ptr<EngineInput>> inputs;
    std::vector<EngineItem> items;
    for (int most = engine.max_batch(work_class); most > 0; --most) {
      auto input = TakeWhole(engine, Scene(1));
      if (!input.ok()) return input.status();
      inputs.push_back(*std::move(input));
      items.push_back({inputs.back().get(), &asked_});
    }
    const Status ran = engine.Run(work_class, slot, Width::kOneShare, items);
    if (!ran.ok()) return ran;
    return RowsOf(engine.Detect(work_class, slot, 0));
  }

  size_t EngineFiles() const {
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      if (entry.path().extension() == ".engine") ++files;
    }
    return files;
  }

  std::filesystem::path folder_;
  std::string model_;
  GpuEngineOptions options_;
  DetectionOptions asked_;
};

std::vector<int> LoadedSizes(const Engine& engine) {
  std::vector<int> sizes;
  for (const BatchEngine& each : engine.batches().engines) {
    if (each.is_loaded) sizes.push_back(each.batch);
  }
  return sizes;
}

TEST_F(SimulatedBatchesTest, AModelServesWhenTheEngineOfItsSmallestBatchesIsThere) {
  int builds = 0;
  const auto engine = First([&](double share) {
    builds += share >= 1 ? 1 : 0;
    return true;
  });
  ASSERT_NE(engine, nullptr);
  EXPECT_EQ(builds, 1);
  EXPECT_EQ(EngineFiles(), 1u);
  EXPECT_EQ(LoadedSizes(*engine), std::vector<int>{1});
  EXPECT_EQ(engine->batches().engines.size(), 3u);
  EXPECT_EQ(engine->max_batch(WorkClass::kSync), 1);
  EXPECT_EQ(engine->max_batch(WorkClass::kAsync), 1);
  EXPECT_TRUE(RunFull(*engine, WorkClass::kSync, 0).ok());
}

TEST_F(SimulatedBatchesTest, BatchesEndWhileAnEngineForLargerOnesIsBuilt) {
  const auto engine = First();
  ASSERT_NE(engine, nullptr);
  bool ran = true;
  const auto during = [&](double) {
    for (const WorkClass work_class : {WorkClass::kSync, WorkClass::kAsync}) {
      ran = RunFull(*engine, work_class, 1).ok() && ran;
    }
    return true;
  };
  const std::vector<int> more = {4, 8};
  ASSERT_TRUE(engine->AddBatches(more, during).ok());
  EXPECT_TRUE(ran);
  EXPECT_EQ(LoadedSizes(*engine), (std::vector<int>{1, 4, 8}));
}

TEST_F(SimulatedBatchesTest, BatchesGrowWithoutAPauseAndKeepTheirBoxes) {
  const auto engine = First();
  ASSERT_NE(engine, nullptr);
  const auto expected = RunFull(*engine, WorkClass::kAsync, 0);
  ASSERT_TRUE(expected.ok());
  std::atomic<bool> over = false;
  std::atomic<int> rounds = 0;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (const WorkClass work_class : {WorkClass::kSync, WorkClass::kAsync}) {
    for (int slot = 0; slot < engine->slots(work_class); ++slot) {
      callers.emplace_back([&, work_class, slot] {
        do {
          const auto boxes = RunFull(*engine, work_class, slot);
          if (!boxes.ok() || boxes->size() != expected->size()) ++wrong;
          ++rounds;
        } while (!over);
      });
    }
  }
  for (const int batch : {4, 8}) {
    const int before = rounds;
    const std::vector<int> more = {batch};
    EXPECT_TRUE(engine->AddBatches(more, nullptr).ok());
    EXPECT_EQ(engine->max_batch(WorkClass::kAsync), batch);
    while (rounds < before + 12) std::this_thread::yield();
  }
  over = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(SimulatedBatchesTest, NothingIsTakenOrMadeByTheFirstBatchesOfASizeThatWasAdded) {
  const auto engine = First();
  ASSERT_NE(engine, nullptr);
  const std::vector<int> more = {4, 8};
  ASSERT_TRUE(engine->AddBatches(more, nullptr).ok());
  const auto made = [] {
    return simulated::CallsOf(Call::kMalloc) + simulated::CallsOf(Call::kFree) +
           simulated::CallsOf(Call::kCreateContext) + simulated::CallsOf(Call::kGraphInstantiate) +
           simulated::CallsOf(Call::kStreamCreate);
  };
  const size_t before = made();
  for (const WorkClass work_class : {WorkClass::kSync, WorkClass::kAsync}) {
    for (int slot = 0; slot < engine->slots(work_class); ++slot) {
      EXPECT_TRUE(RunFull(*engine, work_class, slot).ok());
    }
  }
  EXPECT_EQ(made(), before);
}

TEST_F(SimulatedBatchesTest, SizesAddedOneByOneTakeNoMoreMemoryThanTogether) {
  const auto together = [&] {
    const auto engine = LoadWholeGpuEngine(model_, options_);
    EXPECT_TRUE(engine.ok());
    return simulated::UsedBytes(0);
  }();
  const auto engine = First();
  ASSERT_NE(engine, nullptr);
  for (const int batch : {8, 4}) {
    const std::vector<int> more = {batch};
    ASSERT_TRUE(engine->AddBatches(more, nullptr).ok());
  }
  EXPECT_EQ(simulated::UsedBytes(0), together);
  EXPECT_EQ(engine->max_batch(WorkClass::kAsync), 8);
}

TEST_F(SimulatedBatchesTest, WhatFailsLeavesTheSmallerBatchesAsTheyWere) {
  const auto engine = First();
  ASSERT_NE(engine, nullptr);
  const std::vector<int> four = {4};
  ASSERT_TRUE(engine->AddBatches(four, nullptr).ok());
  const auto boxes = RunFull(*engine, WorkClass::kSync, 0);
  const size_t used = simulated::UsedBytes(0);
  const std::vector<int> more = {8};
  const auto expect_as_before = [&](const std::string& which) {
    EXPECT_EQ(LoadedSizes(*engine), (std::vector<int>{1, 4})) << which;
    EXPECT_EQ(engine->max_batch(WorkClass::kAsync), 4) << which;
    EXPECT_EQ(simulated::UsedBytes(0), used) << which;
    const auto again = RunFull(*engine, WorkClass::kSync, 0);
    EXPECT_TRUE(again.ok() && *again == *boxes) << which;
  };
  struct Case {
    Call call;
    cudaError_t error;
    int passing;
    StatusCode code;
  };
  for (const Case& c :
       {Case{Call::kBuild, cudaErrorUnknown, 0, StatusCode::kInvalidModel},
        Case{Call::kDeserialize, cudaErrorMemoryAllocation, 0, StatusCode::kOverloaded},
        Case{Call::kMalloc, cudaErrorMemoryAllocation, 0, StatusCode::kOverloaded},
        Case{Call::kMalloc, cudaErrorMemoryAllocation, 40, StatusCode::kOverloaded},
        Case{Call::kCreateContext, cudaErrorUnknown, 6, StatusCode::kDetectionFailed}}) {
    simulated::FailCall(c.call, c.error, c.passing);
    const Status failed = engine->AddBatches(more, nullptr);
    EXPECT_EQ(failed.code(), c.code) << failed.message();
    expect_as_before(std::to_string(static_cast<int>(c.call)));
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    if (entry.path().filename() == engine->batches().engines[2].file)
      std::filesystem::remove(entry);
  }
  const Status cancelled = engine->AddBatches(more, [](double share) { return share < 0.5; });
  EXPECT_EQ(cancelled.code(), StatusCode::kCancelled) << cancelled.message();
  expect_as_before("a build that was cancelled");
  const std::vector<int> strange = {3};
  EXPECT_EQ(engine->AddBatches(strange, nullptr).code(), StatusCode::kInternalError);
  EXPECT_TRUE(engine->AddBatches(more, nullptr).ok());
  EXPECT_EQ(LoadedSizes(*engine), (std::vector<int>{1, 4, 8}));
}

}  // namespace
}  // namespace lattice
#endif  // LATTICE_SIMULATED_GPU
