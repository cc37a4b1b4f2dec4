// GPUs that fault or hang, simulated on the host. In builds with LATTICE_SIMULATED_GPU only. Each
// test runs in a process of its own, because a process cannot use a GPU again after it was lost.
// That the process ends, with its own exit status, is part of each test.
#ifdef LATTICE_SIMULATED_GPU
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "native/base/abandoned_gpu.h"
#include "native/base/stopwatch.h"
#include "native/engine/tensorrt/gpu_engine.h"
#include "test/native/engine/tiny_scene.h"
#include "test/native/simulated_cuda/simulated_gpus.h"

namespace lattice {
namespace {

constexpr std::chrono::milliseconds kPatience{1'000};

class SimulatedLossDeathTest : public testing::Test {
 protected:
  SimulatedLossDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  void InAProcess(const std::function<void()>& body) {
    EXPECT_EXIT(
        {
          options_.confidence = 0.05f;
          body();
          std::exit(HasFailure() ? 1 : 69);
        },
        testing::ExitedWithCode(69), "");
  }

  static Result<std::unique_ptr<Engine>> Load(std::chrono::milliseconds patience = kPatience) {
    GpuEngineOptions options;
    options.patience = patience;
    return LoadGpuEngine(LATTICE_SOURCE_DIR "/models/tiny/tiny-v8.onnx", options, nullptr);
  }

  static std::unique_ptr<Engine> Loaded(std::chrono::milliseconds patience = kPatience) {
    auto engine = Load(patience);
    EXPECT_TRUE(engine.ok()) << engine.status().message();
    return engine.ok() ? *std::move(engine) : nullptr;
  }

  static std::unique_ptr<EngineInput> Prepared(Engine& engine) {
    auto input = engine.Prepare(Scene(1));
    EXPECT_TRUE(input.ok());
    return *std::move(input);
  }

  Status Run(Engine& engine, WorkClass work_class, int slot, EngineInput* input) {
    const EngineItem item{input, &options_};
    return engine.Run(work_class, slot, Width::kOneShare, {&item, 1});
  }

  // Whatever is called now answers at once and does nothing on the GPU: neither work nor freeing.
  void ExpectLost(std::unique_ptr<Engine> engine, std::unique_ptr<EngineInput> input) {
    const size_t used = simulated::UsedBytes(0);
    const size_t pinned = simulated::PinnedBytes();
    const size_t done = simulated::WorkDone(0);
    Stopwatch watch;
    EXPECT_TRUE(IsGpuAbandoned());
    for (const WorkClass work_class : {WorkClass::kSync, WorkClass::kAsync}) {
      for (int slot = 0; slot < engine->slots(work_class); ++slot) {
        EXPECT_EQ(Run(*engine, work_class, slot, input.get()).code(), StatusCode::kGpuLost);
      }
    }
    EXPECT_EQ(engine->Prepare(Scene(1)).status().code(), StatusCode::kGpuLost);
    EXPECT_EQ(engine->PrepareOnGpu({}).status().code(), StatusCode::kGpuLost);
    EXPECT_EQ(Load().status().code(), StatusCode::kGpuLost);
    // Images that are being decoded still get memory: they must not end as out of memory.
    std::pmr::memory_resource* const memory = engine->pixel_memory();
    void* const pixels = memory->allocate(5 << 20);
    memory->deallocate(pixels, 5 << 20);
    input.reset();
    engine.reset();
    EXPECT_LT(watch.Lap(), 900);  // one wait for the GPU would take longer
    EXPECT_EQ(simulated::UsedBytes(0), used);
    EXPECT_EQ(simulated::PinnedBytes(), pinned);
    EXPECT_EQ(simulated::WorkDone(0), done);
  }

  void ExpectHangIsLost(WorkClass work_class) {
    auto engine = Loaded();
    auto input = Prepared(*engine);
    EXPECT_TRUE(Run(*engine, work_class, 0, input.get()).ok());
    simulated::Hang(0);
    Stopwatch watch;
    const Status lost = Run(*engine, work_class, 0, input.get());
    const double ms = watch.Lap();
    EXPECT_EQ(lost.code(), StatusCode::kGpuLost);
    EXPECT_NE(lost.message().find("did not answer for 1 s"), std::string::npos) << lost.message();
    EXPECT_GE(ms, 999);
    EXPECT_LT(ms, 20'000);
    ExpectLost(std::move(engine), std::move(input));
    // Work that the GPU resumes finds its memory in place.
    const size_t done = simulated::WorkDone(0);
    simulated::Release(0);
    while (simulated::WorkDone(0) == done)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  DetectionOptions options_;
};

TEST_F(SimulatedLossDeathTest, ASyncBatchThatHangsIsLostWithinThePatience) {
  InAProcess([this] { ExpectHangIsLost(WorkClass::kSync); });
}

TEST_F(SimulatedLossDeathTest, AnAsyncBatchThatHangsIsLostWithinThePatience) {
  InAProcess([this] { ExpectHangIsLost(WorkClass::kAsync); });
}

TEST_F(SimulatedLossDeathTest, BothBatchesInFlightAreLost) {
  InAProcess([this] {
    auto engine = Loaded();
    auto input = Prepared(*engine);
    simulated::Hang(0);
    std::thread beside([&] {
      EXPECT_EQ(Run(*engine, WorkClass::kAsync, 0, input.get()).code(), StatusCode::kGpuLost);
    });
    EXPECT_EQ(Run(*engine, WorkClass::kAsync, 1, input.get()).code(), StatusCode::kGpuLost);
    beside.join();
    ExpectLost(std::move(engine), std::move(input));
  });
}

TEST_F(SimulatedLossDeathTest, ASlowGpuIsWaitedFor) {
  InAProcess([this] {
    auto engine = Loaded(std::chrono::seconds(20));
    auto input = Prepared(*engine);
    for (const WorkClass work_class : {WorkClass::kSync, WorkClass::kAsync}) {
      simulated::Hang(0);
      std::thread later([] {
        std::this_thread::sleep_for(kPatience / 4);
        simulated::Release(0);
      });
      EXPECT_TRUE(Run(*engine, work_class, 0, input.get()).ok());
      later.join();
    }
    EXPECT_FALSE(IsGpuAbandoned());
    input.reset();
    engine.reset();
    EXPECT_EQ(simulated::UsedBytes(0), 0u);
  });
}

TEST_F(SimulatedLossDeathTest, AFaultIsLostAtOnce) {
  InAProcess([this] {
    auto engine = Loaded();
    auto input = Prepared(*engine);
    simulated::FaultWork(0, cudaErrorIllegalAddress, 3);
    const Status lost = Run(*engine, WorkClass::kSync, 0, input.get());
    EXPECT_EQ(lost.code(), StatusCode::kGpuLost);
    EXPECT_NE(lost.message().find("cudaErrorIllegalAddress"), std::string::npos) << lost.message();
    ExpectLost(std::move(engine), std::move(input));
  });
}

// TensorRT itself only says that something failed.
TEST_F(SimulatedLossDeathTest, AFaultDuringALoadIsLostToo) {
  for (const int passing : {0, 4, 15}) {
    InAProcess([passing] {
      simulated::FaultWork(0, cudaErrorIllegalAddress, passing);
      EXPECT_EQ(Load().status().code(), StatusCode::kGpuLost) << passing;
      EXPECT_EQ(Load().status().code(), StatusCode::kGpuLost) << passing;
    });
  }
}

}  // namespace
}  // namespace lattice
#endif  // LATTICE_SIMULATED_GPU
