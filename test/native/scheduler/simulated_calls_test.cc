// Calls into the driver that do not return, on GPUs that are played on the host. In builds with
// LATTICE_SIMULATED_GPU only. Each test runs in a process of its own, since a GPU that was left
// stays so. That the process ends is part of it.
#ifdef LATTICE_SIMULATED_GPU
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "native/base/abandoned_gpu.h"
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

  void InAProcess(size_t gpus, const std::function<void()>& body) {
    EXPECT_EXIT(
        {
          simulated::PlugIn(std::vector<simulated::GpuKind>(gpus));
          Start(static_cast<int>(gpus));
          body();
          std::exit(HasFailure() ? 1 : 69);
        },
        testing::ExitedWithCode(69), "");
  }

  void Start(int gpus) {
    ASSERT_TRUE(InitDecoders().ok());
    GpuEngineOptions options;
    options.patience = 2s;  // the other GPU computes on the cores that are there
    auto engine = LoadGpuEngine(LATTICE_SOURCE_DIR "/models/tiny/tiny-v8.onnx", options, nullptr);
    ASSERT_TRUE(engine.ok()) << engine.status().message();
    engine_ = *std::move(engine);
    const LaneOptions lane{2 * gpus, 2 * gpus};
    SchedulerOptions schedule{4, lane, lane};
    schedule.devices = gpus;
    scheduler_ =
        std::make_unique<Scheduler>(schedule, pipeline_, *marker_,
                                    [this](TaskResult result) { results_.Add(std::move(result)); });
  }

  void Submit(uint64_t id, TaskKind kind, int device = -1) {
    ImageTask task;
    task.id = id;
    task.engine = engine_;
    task.pixels = Scene(1);
    task.kind = kind;
    task.device = device;
    task.options.confidence = 0.05f;
    EXPECT_EQ(scheduler_->Submit({std::move(task)}), 0u);
  }

  StatusCode CodeOf(uint64_t id) { return results_.Wait(id).status.code(); }

  ImagePipeline pipeline_{*RootedFiles::Open({LATTICE_SOURCE_DIR "/models/demo"}, 1 << 20), {}};
  std::unique_ptr<CrashMarker> marker_ = *CrashMarker::Open("");
  test::TaskResults results_;
  std::shared_ptr<Engine> engine_;
  std::unique_ptr<Scheduler> scheduler_;
};

TEST_F(SimulatedCallsDeathTest, WithTheLastGpuGoneTheProcessCanEnd) {
  InAProcess(1, [this] {
    simulated::HangCall(Call::kGraphLaunch, 0);
    for (uint64_t id = 1; id <= 10; ++id) Submit(id, static_cast<TaskKind>(id % 2));
    for (uint64_t id = 1; id <= 10; ++id) EXPECT_EQ(CodeOf(id), StatusCode::kGpuLost);
    scheduler_.reset();
  });
}

}  // namespace
}  // namespace lattice
#endif  // LATTICE_SIMULATED_GPU
