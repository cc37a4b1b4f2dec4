// A call into the driver that does not return, on a simulated GPU. In builds with
// LATTICE_SIMULATED_GPU only, and in a process of its own, whose end is part of the test.
#ifdef LATTICE_SIMULATED_GPU
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>

#include "native/engine/tensorrt/gpu_engine.h"
#include "native/scheduler/scheduler.h"
#include "test/native/engine/tiny_scene.h"
#include "test/native/scheduler/task_results.h"
#include "test/native/simulated_cuda/simulated_gpus.h"

namespace lattice {
namespace {

using simulated::Call;
using namespace std::chrono_literals;

class SimulatedCallsDeathTest : public testing::Test {
 protected:
  SimulatedCallsDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  void InAProcess(const std::function<void()>& body) {
    EXPECT_EXIT(
        {
          simulated::PlugIn({{}});
          Start();
          body();
          std::exit(HasFailure() ? 1 : 69);
        },
        testing::ExitedWithCode(69), "");
  }

  void Start() {
    ASSERT_TRUE(InitDecoders().ok());
    GpuEngineOptions options;
    options.patience = 2s;
    auto engine = LoadGpuEngine(LATTICE_SOURCE_DIR "/models/tiny/tiny-v8.onnx", options, nullptr);
    ASSERT_TRUE(engine.ok()) << engine.status().message();
    engine_ = *std::move(engine);
    const ClassOptions both{2, 2};
    scheduler_ = std::make_unique<Scheduler>(
        SchedulerOptions{4, both, both}, pipeline_, *marker_,
        [this](TaskResult result) { results_.Add(std::move(result)); },
        [this](const Status&) { ++device_losses_; });
  }

  void Submit(uint64_t id, WorkClass work_class) {
    ImageTask task;
    task.id = id;
    task.engine = engine_;
    task.pixels = Scene(1);
    task.work_class = work_class;
    task.options.confidence = 0.05f;
    EXPECT_EQ(scheduler_->Submit({std::move(task)}), 0u);
  }

  StatusCode CodeOf(uint64_t id) { return results_.Wait(id).status.code(); }

  ImagePipeline pipeline_{*RootedFiles::Open({LATTICE_SOURCE_DIR "/models/demo"}, 1 << 20), {}};
  std::unique_ptr<CrashMarker> marker_ = *CrashMarker::Open("");
  test::TaskResults results_;
  std::shared_ptr<Engine> engine_;
  std::atomic<int> device_losses_ = 0;
  std::unique_ptr<Scheduler> scheduler_;
};

TEST_F(SimulatedCallsDeathTest, ALaunchThatDoesNotReturnLosesTheGpuAndTheProcessCanEnd) {
  InAProcess([this] {
    Submit(100, WorkClass::kSync);
    EXPECT_EQ(CodeOf(100), StatusCode::kOk);
    simulated::HangCall(Call::kGraphLaunch, 0);
    for (uint64_t id = 1; id <= 10; ++id) Submit(id, static_cast<WorkClass>(id % 2));
    for (uint64_t id = 1; id <= 10; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kGpuLost);
    EXPECT_EQ(device_losses_, 1);
    scheduler_.reset();
  });
}

}  // namespace
}  // namespace lattice
#endif  // LATTICE_SIMULATED_GPU
