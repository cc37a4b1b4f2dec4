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

#include "native/gpu/gpu_engine.h"
#include "test/native/engine/tiny_scene.h"
#include "test/native/simulated_cuda/simulated_gpus.h"

namespace lattice {
namespace {

using simulated::Call;
using namespace std::chrono_literals;

class SimulatedLossDeathTest : public testing::Test {
 protected:
  SimulatedLossDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  void InAProcess(const std::function<void()>& body, const std::string& says = "") {
    EXPECT_EXIT(
        {
          options_.confidence = 0.05f;
          body();
          std::exit(HasFailure() ? 1 : 69);
        },
        testing::ExitedWithCode(69), says);
  }

  static Result<std::unique_ptr<Engine>> Load(Clock::duration longest_run = 1s) {
    GpuEngineOptions options;
    options.longest_run = longest_run;
    return LoadGpuEngine(LATTICE_SOURCE_DIR "/models/tiny/tiny-v8.onnx", options, nullptr);
  }

  static std::unique_ptr<Engine> Loaded(Clock::duration longest_run = 1s) {
    auto engine = Load(longest_run);
    EXPECT_TRUE(engine.ok()) << engine.status().message();
    return engine.ok() ? *std::move(engine) : nullptr;
  }

  static std::unique_ptr<EngineInput> Prepared(Engine& engine) {
    auto input = TakeWhole(engine, Scene(1));
    EXPECT_TRUE(input.ok());
    return *std::move(input);
  }

  Status Run(Engine& engine, WorkClass work_class, int slot, EngineInput* input) {
    const EngineItem item{input, &options_};
    return engine.Run(work_class, slot, Width::kOneShare, {&item, 1});
  }

  // Whatever is called now says so at once.
  void ExpectLost(std::unique_ptr<Engine> engine, std::unique_ptr<EngineInput> input) {
    for (const WorkClass work_class : {WorkClass::kSync, WorkClass::kAsync}) {
      for (int slot = 0; slot < engine->slots(work_class); ++slot) {
        EXPECT_EQ(Run(*engine, work_class, slot, input.get()).code(), StatusCode::kGpuLost);
      }
    }
    EXPECT_EQ(TakeWhole(*engine, Scene(1)).status().code(), StatusCode::kGpuLost);
    const int eight = 8;
    EXPECT_EQ(engine->AddBatches({&eight, 1}, nullptr).code(), StatusCode::kGpuLost);
    EXPECT_EQ(Load().status().code(), StatusCode::kGpuLost);
  }

  DetectionOptions options_;
};

TEST_F(SimulatedLossDeathTest, ABatchThatHangsEndsTheProcess) {
  for (const WorkClass work_class : {WorkClass::kSync, WorkClass::kAsync}) {
    InAProcess(
        [this, work_class] {
          auto engine = Loaded();
          auto input = Prepared(*engine);
          EXPECT_TRUE(Run(*engine, work_class, 0, input.get()).ok());
          simulated::Hang(0);
          (void)Run(*engine, work_class, 0, input.get());
          std::_Exit(1);
        },
        "did not answer for 1 s .while running a batch");
  }
}

TEST_F(SimulatedLossDeathTest, ALaunchThatDoesNotReturnEndsTheProcess) {
  InAProcess(
      [this] {
        auto engine = Loaded();
        auto input = Prepared(*engine);
        simulated::HangCall(Call::kGraphLaunch, 0);
        (void)Run(*engine, WorkClass::kSync, 0, input.get());
        std::_Exit(1);
      },
      "did not answer for 1 s .while running a batch");
}

TEST_F(SimulatedLossDeathTest, ASlowGpuIsWaitedFor) {
  InAProcess([this] {
    auto engine = Loaded(20s);
    auto input = Prepared(*engine);
    for (const WorkClass work_class : {WorkClass::kSync, WorkClass::kAsync}) {
      simulated::Hang(0);
      std::thread later([] {
        std::this_thread::sleep_for(250ms);
        simulated::Release(0);
      });
      EXPECT_TRUE(Run(*engine, work_class, 0, input.get()).ok());
      later.join();
    }
    input.reset();
    engine.reset();
    EXPECT_EQ(simulated::UsedBytes(0), 0u);
  });
}

TEST_F(SimulatedLossDeathTest, AFaultIsLostAtOnce) {
  for (const cudaError_t fault : {cudaErrorIllegalAddress, cudaErrorUnknown}) {
    InAProcess([this, fault] {
      auto engine = Loaded();
      auto input = Prepared(*engine);
      simulated::FaultWork(0, fault, 3);
      const Status lost = Run(*engine, WorkClass::kSync, 0, input.get());
      EXPECT_EQ(lost.code(), StatusCode::kGpuLost);
      EXPECT_NE(lost.message().find(cudaGetErrorName(fault)), std::string::npos) << lost.message();
      ExpectLost(std::move(engine), std::move(input));
    });
  }
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

TEST_F(SimulatedLossDeathTest, AFaultWhileABatchSizeIsAddedIsLostToo) {
  for (const int passing : {0, 4, 15}) {
    InAProcess([this, passing] {
      auto engine = Loaded();
      auto input = Prepared(*engine);
      simulated::FaultWork(0, cudaErrorIllegalAddress, passing);
      const int four = 4;
      EXPECT_EQ(engine->AddBatches({&four, 1}, nullptr).code(), StatusCode::kGpuLost) << passing;
      EXPECT_EQ(engine->max_batch(WorkClass::kAsync), 1) << passing;
      ExpectLost(std::move(engine), std::move(input));
    });
  }
}

}  // namespace
}  // namespace lattice
#endif  // LATTICE_SIMULATED_GPU
