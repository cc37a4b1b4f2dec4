#include "test/native/simulated_tensorrt/builder.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "test/native/simulated_cuda/simulated_gpus.h"
#include "test/native/simulated_tensorrt/host_memory.h"
#include "test/native/simulated_tensorrt/network_definition.h"
#include "test/native/simulated_tensorrt/plan.h"

namespace lattice::simulated {
namespace {

constexpr int32_t kSteps = 20;  // of a build

// False where the build was given up. Steps end on several threads at once.
bool Progress(nvinfer1::IProgressMonitor* monitor) {
  if (monitor == nullptr) return true;
  constexpr char kPhase[] = "Simulated build";
  monitor->phaseStart(kPhase, nullptr, kSteps);
  std::atomic<int32_t> next = 0;
  std::atomic<bool> goes_on = true;
  const auto build = [&] {
    for (int32_t step = next++; goes_on && step < kSteps; step = next++) {
      if (!monitor->stepComplete(kPhase, step)) goes_on = false;
    }
  };
  std::thread other(build);
  build();
  other.join();
  monitor->phaseFinish(kPhase);
  return goes_on;
}

}  // namespace

const SimulatedTable<OptimizationProfile::Interface>& OptimizationProfile::Table() {
  static const auto* table = [] {
    auto* made = new SimulatedTable<Interface>();
    made->Simulate(
        &Interface::setDimensions,
        [](void* self, const char*, nvinfer1::OptProfileSelector, const nvinfer1::Dims& dims) {
          ProfileShape& shape = Self::OwnerOf(self).shape_;
          if (dims.nbDims != std::ssize(shape)) return false;
          const bool is_first = shape == ProfileShape{};
          if (is_first) std::copy_n(dims.d, shape.size(), shape.begin());
          return std::equal(shape.begin(), shape.end(), dims.d);
        });
    return made;
  }();
  return *table;
}

const SimulatedTable<TimingCache::Interface>& TimingCache::Table() {
  static const auto* table = [] {
    auto* made = new SimulatedTable<Interface>();
    made->Simulate(&Interface::serialize, [](void* self) -> nvinfer1::IHostMemory* {
      return new HostMemory(Self::OwnerOf(self).bytes_);
    });
    return made;
  }();
  return *table;
}

const SimulatedTable<BuilderConfig::Interface>& BuilderConfig::Table() {
  static const auto* table = [] {
    auto* made = new SimulatedTable<Interface>();
    made->Simulate(&Interface::setMemoryPoolLimit,
                   [](void*, nvinfer1::MemoryPoolType, std::size_t) {});
    made->Simulate(&Interface::setBuilderOptimizationLevel, [](void*, int32_t) {});
    made->Simulate(&Interface::clearFlag, [](void* self, nvinfer1::BuilderFlag flag) {
      if (flag == nvinfer1::BuilderFlag::kTF32) Self::OwnerOf(self).rounds_to_tf32_ = false;
    });
    made->Simulate(&Interface::createTimingCache,
                   [](void*, const void* bytes, std::size_t size) -> nvinfer1::ITimingCache* {
                     return new TimingCache(std::string(static_cast<const char*>(bytes), size));
                   });
    made->Simulate(&Interface::setTimingCache,
                   [](void* self, const nvinfer1::ITimingCache& cache, bool) {
                     // The config fills the cache that it is given, const or not.
                     Self::OwnerOf(self).timings_ =
                         const_cast<TimingCache*>(static_cast<const TimingCache*>(&cache));
                     return true;
                   });
    made->Simulate(&Interface::getTimingCache, [](void* self) -> const nvinfer1::ITimingCache* {
      return Self::OwnerOf(self).timings_;
    });
    made->Simulate(&Interface::addOptimizationProfile,
                   [](void* self, const nvinfer1::IOptimizationProfile* profile) {
                     auto& profiles = Self::OwnerOf(self).profiles_;
                     profiles.push_back(static_cast<const OptimizationProfile*>(profile)->shape());
                     return static_cast<int32_t>(profiles.size()) - 1;
                   });
    made->Simulate(&Interface::setProgressMonitor,
                   [](void* self, nvinfer1::IProgressMonitor* monitor) {
                     Self::OwnerOf(self).monitor_ = monitor;
                   });
    return made;
  }();
  return *table;
}

nvinfer1::IHostMemory* Builder::Build(nvinfer1::INetworkDefinition& network,
                                      nvinfer1::IBuilderConfig& config) noexcept {
  auto& asked = static_cast<BuilderConfig&>(config);
  if (Answer(Call::kBuild) != cudaSuccess) {
    logger_.log(nvinfer1::ILogger::Severity::kERROR,
                "Could not find any implementation for node Simulated");
    return nullptr;
  }
  if (asked.rounds_to_tf32()) {
    logger_.log(nvinfer1::ILogger::Severity::kERROR,
                "A network in FP32 is so for its bits, and would be rounded to TF32");
    return nullptr;
  }
  // A build that comes out well logs errors too: of a kernel that was tried and passed over.
  logger_.log(nvinfer1::ILogger::Severity::kERROR,
              "Error Code 2: OutOfMemory (no further information)");
  const bool whole = Progress(asked.monitor());
  if (asked.timings() != nullptr) asked.timings()->Measure();
  if (!whole) return nullptr;
  return new HostMemory(
      WritePlan({asked.profiles(), static_cast<NetworkDefinition&>(network).onnx()}));
}

const SimulatedTable<Builder::Interface>& Builder::Table() {
  static const auto* table = [] {
    auto* made = new SimulatedTable<Interface>();
    made->Simulate(&Interface::setMaxThreads, [](void*, int32_t threads) { return threads > 0; });
    made->Simulate(
        &Interface::createNetworkV2,
        [](void*, nvinfer1::NetworkDefinitionCreationFlags) -> nvinfer1::INetworkDefinition* {
          return new NetworkDefinition();
        });
    made->Simulate(&Interface::createBuilderConfig,
                   [](void*) -> nvinfer1::IBuilderConfig* { return new BuilderConfig(); });
    made->Simulate(&Interface::createOptimizationProfile,
                   [](void* self) -> nvinfer1::IOptimizationProfile* {
                     auto& profiles = Self::OwnerOf(self).profiles_;
                     profiles.push_back(std::make_unique<OptimizationProfile>());
                     return profiles.back().get();
                   });
    made->Simulate(
        &Interface::buildSerializedNetwork,
        [](void* self, nvinfer1::INetworkDefinition& network, nvinfer1::IBuilderConfig& config) {
          return Self::OwnerOf(self).Build(network, config);
        });
    return made;
  }();
  return *table;
}

}  // namespace lattice::simulated
