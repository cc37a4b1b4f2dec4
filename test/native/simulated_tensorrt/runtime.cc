#include "test/native/simulated_tensorrt/runtime.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>

#include "test/native/simulated_cuda/simulated_gpus.h"
#include "test/native/simulated_tensorrt/plan.h"

namespace lattice::simulated {
namespace {

constexpr int64_t kArenaBytes = int64_t{1} << 20;

int CurrentGpu() {
  int gpu = 0;
  (void)cudaGetDevice(&gpu);
  return gpu;
}

// As the real one words it.
const char* WordsFor(cudaError_t error, const char* otherwise) {
  return error == cudaErrorMemoryAllocation ? "Error Code 1: Cuda Runtime (out of memory)"
                                            : otherwise;
}

nvinfer1::Dims DimsOf(const std::vector<int64_t>& shape) {
  nvinfer1::Dims dims{};
  dims.nbDims = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), dims.d);
  return dims;
}

// Kernels are chosen for each batch size alone, so each rounds in its own way; those of a plan that
// is wrong have one more fault in common.
void RoundAsBatch(int64_t batch, bool is_wrong, const HostTensor& tensor, void* memory) {
  if (batch == 1 && !is_wrong) return;
  const auto scale = [&](auto* values, float step) {
    const auto way = static_cast<float>(std::bit_width(static_cast<uint64_t>(batch)) - 1);
    const float factor = (1 + way * step) * (is_wrong ? 0.5f : 1);
    std::for_each(values, values + tensor.Bytes(batch) / sizeof *values,
                  [&](auto& value) { value = static_cast<float>(value) * factor; });
  };
  if (tensor.type == ov::element::f16) {
    scale(static_cast<ov::float16*>(memory), 0x1p-12f);
  } else {
    scale(static_cast<float*>(memory), 0x1p-16f);
  }
}

// Marks the memory that a run works in, to see whether another one worked in it meanwhile.
class Arena {
 public:
  Arena(void* memory, const void* owner) : memory_(memory), owner_(owner) {
    std::memcpy(memory_, &owner_, sizeof owner_);
  }
  bool untouched() const { return std::memcmp(memory_, &owner_, sizeof owner_) == 0; }

 private:
  void* memory_;
  const void* owner_;
};

}  // namespace

bool ExecutionContext::Complain(const std::string& what) noexcept {
  logger_.log(nvinfer1::ILogger::Severity::kERROR, what.c_str());
  return false;
}

void ExecutionContext::AllocateArena() noexcept {
  if (cudaMalloc(&owned_arena_, kArenaBytes) != cudaSuccess) return;
  arena_ = owned_arena_;
  arena_bytes_ = kArenaBytes;
}

bool ExecutionContext::SetShape(const nvinfer1::Dims& dims) noexcept {
  const auto& served = plan_->profiles[static_cast<size_t>(profile_)];
  if (!std::equal(dims.d, dims.d + dims.nbDims, served.begin(), served.end())) {
    return Complain("The shape does not satisfy optimization profile " + std::to_string(profile_));
  }
  batch_ = served[0];
  settled_ = false;
  return true;
}

nvinfer1::Dims ExecutionContext::ShapeOf(const char* tensor) const noexcept {
  const HostNetwork& network = *plan_->network;
  return DimsOf(network.tensors()[network.IndexOf(tensor)].Shape(batch_));
}

bool ExecutionContext::Enqueue(cudaStream_t stream) noexcept {
  if (Answer(Call::kEnqueue) != cudaSuccess) return Complain("Cask convolution execution");
  if (batch_ == 0 || std::count(memory_.begin(), memory_.end(), nullptr) != 0 ||
      arena_bytes_ < kArenaBytes || reinterpret_cast<uintptr_t>(arena_) % 256 != 0) {
    return Complain("The context lacks a shape, an address or its memory");
  }
  if (IsRecording(stream) && !settled_) {
    return Complain("The first run with a shape cannot be recorded");
  }
  settled_ = true;
  if (plan_->gpu != CurrentGpu() || plan_->gpu != GpuOf(stream)) {
    return Complain("The engine belongs to another device");
  }
  const auto run = [plan = plan_, batch = batch_, memory = memory_, arena = arena_, runs = runs_] {
    const std::vector<HostTensor>& tensors = plan->network->tensors();
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (!IsOnGpu(memory[i], tensors[i].Bytes(batch), plan->gpu)) return cudaErrorIllegalAddress;
    }
    if (!IsOnGpu(arena, kArenaBytes, plan->gpu) || runs->exchange(true)) {
      return cudaErrorIllegalAddress;
    }
    const Arena mine(arena, runs.get());
    try {
      plan->network->Run(memory, batch);
      for (size_t i = 1; i < tensors.size(); ++i) {
        RoundAsBatch(batch, plan->is_wrong, tensors[i], memory[i]);
      }
    } catch (const std::exception&) {
      return cudaErrorLaunchFailure;
    }
    runs->store(false);
    return mine.untouched() ? cudaSuccess : cudaErrorIllegalAddress;
  };
  return Queue(stream, run) == cudaSuccess || Complain("The network could not be queued");
}

const SimulatedTable<ExecutionContext::Interface>& ExecutionContext::Table() {
  static const auto* table = [] {
    auto* made = new SimulatedTable<Interface>();
    made->Simulate(&Interface::setDeviceMemoryV2, [](void* self, void* memory, int64_t bytes) {
      Self::OwnerOf(self).arena_ = memory;
      Self::OwnerOf(self).arena_bytes_ = bytes;
    });
    made->Simulate(&Interface::setOptimizationProfileAsync,
                   [](void* self, int32_t profile, cudaStream_t) {
                     ExecutionContext& context = Self::OwnerOf(self);
                     if (profile < 0 || profile >= std::ssize(context.plan_->profiles)) {
                       return context.Complain("There is no such optimization profile");
                     }
                     context.profile_ = profile;
                     context.batch_ = 0;
                     return true;
                   });
    made->Simulate(&Interface::setInputShape,
                   [](void* self, const char*, const nvinfer1::Dims& dims) {
                     return Self::OwnerOf(self).SetShape(dims);
                   });
    made->Simulate(&Interface::getTensorShape, [](void* self, const char* tensor) {
      return Self::OwnerOf(self).ShapeOf(tensor);
    });
    made->Simulate(&Interface::setTensorAddress, [](void* self, const char* tensor, void* memory) {
      ExecutionContext& context = Self::OwnerOf(self);
      context.memory_[context.plan_->network->IndexOf(tensor)] = memory;
      return reinterpret_cast<uintptr_t>(memory) % 256 == 0;
    });
    made->Simulate(&Interface::enqueueV3, [](void* self, cudaStream_t stream) {
      return Self::OwnerOf(self).Enqueue(stream);
    });
    return made;
  }();
  return *table;
}

const SimulatedTable<CudaEngine::Interface>& CudaEngine::Table() {
  static const auto* table = [] {
    auto* made = new SimulatedTable<Interface>();
    made->Simulate(&Interface::getNbIOTensors, [](void* self) {
      return static_cast<int32_t>(Self::OwnerOf(self).plan_->network->tensors().size());
    });
    made->Simulate(&Interface::getIOTensorName, [](void* self, int32_t index) -> const char* {
      const HostNetwork& network = *Self::OwnerOf(self).plan_->network;
      return network.tensors()[static_cast<size_t>(index)].name.c_str();
    });
    made->Simulate(&Interface::getTensorIOMode, [](void* self, const char* tensor) {
      const bool input = Self::OwnerOf(self).plan_->network->IndexOf(tensor) == 0;
      return input ? nvinfer1::TensorIOMode::kINPUT : nvinfer1::TensorIOMode::kOUTPUT;
    });
    made->Simulate(&Interface::getTensorDataType, [](void* self, const char* tensor) {
      const HostNetwork& network = *Self::OwnerOf(self).plan_->network;
      const bool half = network.tensors()[network.IndexOf(tensor)].type == ov::element::f16;
      return half ? nvinfer1::DataType::kHALF : nvinfer1::DataType::kFLOAT;
    });
    made->Simulate(&Interface::getDeviceMemorySizeForProfileV2,
                   [](void*, int32_t) { return kArenaBytes; });
    made->Simulate(
        &Interface::createExecutionContext,
        [](void* self,
           nvinfer1::ExecutionContextAllocationStrategy strategy) -> nvinfer1::IExecutionContext* {
          CudaEngine& engine = Self::OwnerOf(self);
          if (const cudaError_t error = Answer(Call::kCreateContext); error != cudaSuccess) {
            engine.logger_.log(nvinfer1::ILogger::Severity::kERROR,
                               WordsFor(error, "Error Code 4: Internal Error"));
            return nullptr;
          }
          auto* context = new ExecutionContext(engine.plan_, engine.logger_, &engine.contexts_);
          if (strategy == nvinfer1::ExecutionContextAllocationStrategy::kSTATIC) {
            context->AllocateArena();
          }
          return context;
        });
    return made;
  }();
  return *table;
}

nvinfer1::ICudaEngine* Runtime::Deserialize(const void* bytes, size_t size) noexcept {
  const auto refuse = [&](const char* why) {
    logger_.log(nvinfer1::ILogger::Severity::kERROR, why);
    return nullptr;
  };
  if (const cudaError_t error = Answer(Call::kDeserialize); error != cudaSuccess) {
    return refuse(
        WordsFor(error, "The engine plan file is not compatible with this version of TensorRT"));
  }
  try {
    const auto plan = ReadPlan(std::string(static_cast<const char*>(bytes), size));
    if (!plan) return refuse("The engine plan file is damaged");
    auto loaded = std::make_shared<LoadedPlan>();
    loaded->profiles = plan->profiles;
    loaded->network = std::make_unique<HostNetwork>(plan->onnx, plan->profiles.front());
    loaded->gpu = CurrentGpu();
    const char* wrong = std::getenv("LATTICE_SIMULATED_WRONG");
    loaded->is_wrong = wrong != nullptr && plan->profiles.front()[0] >= std::atoi(wrong);
    return new CudaEngine(std::move(loaded), logger_, &engines_);
  } catch (const std::exception& error) {
    return refuse(error.what());
  }
}

const SimulatedTable<Runtime::Interface>& Runtime::Table() {
  static const auto* table = [] {
    auto* made = new SimulatedTable<Interface>();
    using FromMemory = nvinfer1::ICudaEngine* (Interface::*)(const void*, std::size_t) noexcept;
    made->Simulate(static_cast<FromMemory>(&Interface::deserializeCudaEngine),
                   [](void* self, const void* bytes, std::size_t size) {
                     return Self::OwnerOf(self).Deserialize(bytes, size);
                   });
    return made;
  }();
  return *table;
}

}  // namespace lattice::simulated
