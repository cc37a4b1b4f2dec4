// The simulated TensorRT's runtime: engines and the contexts that run them.
#ifndef LATTICE_TEST_SIMULATED_TENSORRT_RUNTIME_H_
#define LATTICE_TEST_SIMULATED_TENSORRT_RUNTIME_H_

#include <NvInfer.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "test/native/simulated_tensorrt/host_network.h"
#include "test/native/simulated_tensorrt/simulated_interface.h"

namespace lattice::simulated {

// Ends the process where an object that others depend on ends before them.
class Dependants {
 public:
  explicit Dependants(const char* complaint) : complaint_(complaint) {}
  ~Dependants() {
    if (count_ == 0) return;
    std::fprintf(stderr, "%s\n", complaint_);
    std::abort();
  }
  void Add() { ++count_; }
  void Remove() { --count_; }

 private:
  const char* complaint_;
  std::atomic<int> count_ = 0;
};

// Shared by an engine and what its contexts have queued.
struct LoadedPlan {
  std::vector<ProfileShape> profiles;
  std::unique_ptr<HostNetwork> network;
  int gpu = 0;  // where it was loaded
  // Batches are not below LATTICE_SIMULATED_WRONG: the network gives half of every number.
  bool is_wrong = false;
};

class ExecutionContext final : public nvinfer1::IExecutionContext {
 public:
  ExecutionContext(std::shared_ptr<LoadedPlan> plan, nvinfer1::ILogger& logger, Dependants* all)
      : plan_(std::move(plan)),
        logger_(logger),
        all_(*all),
        memory_(plan_->network->tensors().size()),
        simulated_(Table(), this) {
    mImpl = simulated_.get();
    all_.Add();
  }
  ~ExecutionContext() override {
    (void)cudaFree(owned_arena_);
    all_.Remove();
  }

  // Memory of its own to work in.
  void AllocateArena() noexcept;

 private:
  using Interface = nvinfer1::apiv::VExecutionContext;
  using Self = Simulated<Interface, ExecutionContext>;
  static const SimulatedTable<Interface>& Table();

  bool Enqueue(cudaStream_t stream) noexcept;
  bool SetShape(const nvinfer1::Dims& dims) noexcept;
  nvinfer1::Dims ShapeOf(const char* tensor) const noexcept;
  bool Complain(const std::string& what) noexcept;

  std::shared_ptr<LoadedPlan> plan_;
  nvinfer1::ILogger& logger_;
  Dependants& all_;
  int32_t profile_ = 0;
  int64_t batch_ = 0;
  bool settled_ = false;       // has run with this shape: what that settles cannot be recorded
  std::vector<void*> memory_;  // of the network's tensors
  void* arena_ = nullptr;
  int64_t arena_bytes_ = 0;
  void* owned_arena_ = nullptr;
  std::shared_ptr<std::atomic<bool>> runs_ = std::make_shared<std::atomic<bool>>(false);
  Self simulated_;
};

class CudaEngine final : public nvinfer1::ICudaEngine {
 public:
  CudaEngine(std::shared_ptr<LoadedPlan> plan, nvinfer1::ILogger& logger, Dependants* all)
      : plan_(std::move(plan)), logger_(logger), all_(*all), simulated_(Table(), this) {
    mImpl = simulated_.get();
    all_.Add();
  }
  ~CudaEngine() override { all_.Remove(); }

 private:
  using Interface = nvinfer1::apiv::VCudaEngine;
  using Self = Simulated<Interface, CudaEngine>;
  static const SimulatedTable<Interface>& Table();

  std::shared_ptr<LoadedPlan> plan_;
  nvinfer1::ILogger& logger_;
  Dependants& all_;
  Dependants contexts_{"An engine ends before its execution contexts."};
  Self simulated_;
};

class Runtime final : public nvinfer1::IRuntime {
 public:
  explicit Runtime(nvinfer1::ILogger& logger) : logger_(logger), simulated_(Table(), this) {
    mImpl = simulated_.get();
  }

 private:
  using Interface = nvinfer1::apiv::VRuntime;
  using Self = Simulated<Interface, Runtime>;
  static const SimulatedTable<Interface>& Table();
  nvinfer1::ICudaEngine* Deserialize(const void* bytes, size_t size) noexcept;

  nvinfer1::ILogger& logger_;
  Dependants engines_{"A runtime ends before its engines."};
  Self simulated_;
};

}  // namespace lattice::simulated

#endif  // LATTICE_TEST_SIMULATED_TENSORRT_RUNTIME_H_
