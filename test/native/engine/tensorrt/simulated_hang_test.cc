// GPUs that hang without an error, played on the host. In builds with LATTICE_SIMULATED_GPU only.
// Each test runs in a process of its own, since a GPU that was left stays so. That the process ends
// is part of it.
#ifdef LATTICE_SIMULATED_GPU
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "native/base/left_gpus.h"
#include "native/base/stopwatch.h"
#include "native/engine/tensorrt/gpu_engine.h"
#include "native/engine/tensorrt/pinned_pixels.h"
#include "test/native/engine/tiny_scene.h"
#include "test/native/simulated_cuda/simulated_gpus.h"

namespace lattice {
namespace {

constexpr std::chrono::milliseconds kPatience{200};

class SimulatedHangDeathTest : public testing::Test {
 protected:
  SimulatedHangDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  void InAProcess(const std::function<void()>& body) {
    EXPECT_EXIT(
        {
          options_.confidence = 0.05f;
          body();
          std::exit(HasFailure() ? 1 : 69);
        },
        testing::ExitedWithCode(69), "");
  }

  static Result<std::unique_ptr<Engine>> Load() {
    GpuEngineOptions options;
    options.patience = kPatience;
    return LoadGpuEngine(LATTICE_SOURCE_DIR "/models/tiny/tiny-v8.onnx", options, nullptr);
  }

  static std::unique_ptr<Engine> Loaded() {
    auto engine = Load();
    EXPECT_TRUE(engine.ok()) << engine.status().message();
    return engine.ok() ? *std::move(engine) : nullptr;
  }

  static std::unique_ptr<EngineInput> Prepared(Engine& engine, int width = 640, int height = 480) {
    auto input = engine.Prepare(Scene(1, width, height));
    EXPECT_TRUE(input.ok());
    return *std::move(input);
  }

  Status Run(Engine& engine, WorkClass work_class, int slot, EngineInput* input,
             Boxes* boxes = nullptr) {
    const EngineItem item{input, &options_};
    const Status status = engine.Run(work_class, slot, {&item, 1});
    if (status.ok() && boxes != nullptr) *boxes = RowsOf(engine.Detect(work_class, slot, 0));
    return status;
  }

  DetectionOptions options_;
};

TEST_F(SimulatedHangDeathTest, ASliceThatHangsLosesItsGpuAndAnotherRunsItsImages) {
  InAProcess([this] {
    simulated::PlugIn({{}, {}});
    auto engine = Loaded();
    auto input = Prepared(*engine);
    Boxes expected;
    EXPECT_TRUE(Run(*engine, WorkClass::kSync, 0, input.get(), &expected).ok());
    EXPECT_FALSE(expected.empty());
    const size_t used = simulated::UsedBytes(0);
    simulated::Hang(0);
    Stopwatch watch;
    const Status lost = Run(*engine, WorkClass::kSync, 0, input.get());
    const double ms = watch.Lap();
    EXPECT_EQ(lost.code(), StatusCode::kGpuLost);
    EXPECT_NE(lost.message().find("did not answer for 0.2 s"), std::string::npos) << lost.message();
    EXPECT_GE(ms, 199);
    EXPECT_LT(ms, 10'000);
    EXPECT_EQ(Run(*engine, WorkClass::kSync, 1, input.get()).code(), StatusCode::kGpuLost);
    EXPECT_LT(watch.Lap(), 150);  // without another look at it
    EXPECT_TRUE(IsGpuLeft(0));

    Boxes boxes;
    const int other = engine->slots(WorkClass::kSync) / 2;
    EXPECT_TRUE(Run(*engine, WorkClass::kSync, other, input.get(), &boxes).ok());
    EXPECT_EQ(boxes, expected);
    // The hanging GPU may still read the pixels: nobody else gets their memory.
    const size_t idle = PinnedPixels::Shared().idle_bytes();
    input.reset();
    EXPECT_EQ(PinnedPixels::Shared().idle_bytes(), idle);
    // None of its memory is freed, and all of the other one's.
    engine.reset();
    EXPECT_EQ(simulated::UsedBytes(0), used);
    EXPECT_EQ(simulated::UsedBytes(1), 0u);
    // What it does when it wakes up meets memory that is still there.
    const size_t done = simulated::WorkDone(0);
    simulated::Release(0);
    while (simulated::WorkDone(0) == done)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
}

TEST_F(SimulatedHangDeathTest, ASlowGpuIsWaitedForAndOneThatHangsHoldsNobodyUp) {
  InAProcess([this] {
    simulated::PlugIn({{}});
    auto engine = Loaded();
    auto small = Prepared(*engine);
    auto large = Prepared(*engine, 2048, 1536);
    for (const WorkClass work_class : {WorkClass::kSync, WorkClass::kAsync}) {
      simulated::Hang(0);
      std::thread later([] {
        std::this_thread::sleep_for(kPatience / 4);
        simulated::Release(0);
      });
      EXPECT_TRUE(Run(*engine, work_class, 0, small.get()).ok());
      later.join();
    }
    EXPECT_FALSE(IsAnyGpuLeft());

    // A slice that comes while another one hangs needs more memory of the GPU for its pixels, and
    // freeing the old one waits until the GPU has nothing to do.
    simulated::Hang(0);
    std::thread beside([&] {
      EXPECT_EQ(Run(*engine, WorkClass::kAsync, 0, small.get()).code(), StatusCode::kGpuLost);
    });
    std::this_thread::sleep_for(kPatience / 4);
    EXPECT_EQ(Run(*engine, WorkClass::kSync, 0, large.get()).code(), StatusCode::kGpuLost);
    beside.join();
    EXPECT_EQ(Load().status().code(), StatusCode::kGpuLost);
    const size_t used = simulated::UsedBytes(0);
    small.reset();
    large.reset();
    engine.reset();
    EXPECT_EQ(simulated::UsedBytes(0), used);
  });
}

}  // namespace
}  // namespace lattice
#endif  // LATTICE_SIMULATED_GPU
