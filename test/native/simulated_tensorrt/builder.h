// The simulated TensorRT's builder.
#ifndef LATTICE_TEST_SIMULATED_TENSORRT_BUILDER_H_
#define LATTICE_TEST_SIMULATED_TENSORRT_BUILDER_H_

#include <NvInfer.h>

#include <memory>
#include <string>
#include <vector>

#include "test/native/simulated_tensorrt/plan.h"
#include "test/native/simulated_tensorrt/simulated_interface.h"

namespace lattice::simulated {

// Each holds one shape: min, opt and max are the same.
class OptimizationProfile final : public nvinfer1::IOptimizationProfile {
 public:
  OptimizationProfile() : simulated_(Table(), this) { mImpl = simulated_.get(); }
  const ProfileShape& shape() const { return shape_; }

 private:
  using Interface = nvinfer1::apiv::VOptimizationProfile;
  using Self = Simulated<Interface, OptimizationProfile>;
  static const SimulatedTable<Interface>& Table();

  ProfileShape shape_{};
  Self simulated_;
};

// Each build adds a letter to it.
class TimingCache final : public nvinfer1::ITimingCache {
 public:
  explicit TimingCache(std::string bytes) : bytes_(std::move(bytes)), simulated_(Table(), this) {
    mImpl = simulated_.get();
  }
  void Measure() { bytes_ += 't'; }

 private:
  using Interface = nvinfer1::apiv::VTimingCache;
  using Self = Simulated<Interface, TimingCache>;
  static const SimulatedTable<Interface>& Table();

  std::string bytes_;
  Self simulated_;
};

class BuilderConfig final : public nvinfer1::IBuilderConfig {
 public:
  BuilderConfig() : simulated_(Table(), this) { mImpl = simulated_.get(); }
  // The monitor must outlive the threads that may call it.
  ~BuilderConfig() override {
    if (monitor_ != nullptr) monitor_->phaseFinish("Simulated build");
  }
  const std::vector<ProfileShape>& profiles() const { return profiles_; }
  nvinfer1::IProgressMonitor* monitor() const { return monitor_; }
  TimingCache* timings() const { return timings_; }
  bool rounds_to_tf32() const { return rounds_to_tf32_; }

 private:
  using Interface = nvinfer1::apiv::VBuilderConfig;
  using Self = Simulated<Interface, BuilderConfig>;
  static const SimulatedTable<Interface>& Table();

  std::vector<ProfileShape> profiles_;
  nvinfer1::IProgressMonitor* monitor_ = nullptr;  // borrowed
  TimingCache* timings_ = nullptr;                 // borrowed
  bool rounds_to_tf32_ = true;                     // unless it is told otherwise
  Self simulated_;
};

class Builder final : public nvinfer1::IBuilder {
 public:
  explicit Builder(nvinfer1::ILogger& logger) : logger_(logger), simulated_(Table(), this) {
    mImpl = simulated_.get();
  }

 private:
  using Interface = nvinfer1::apiv::VBuilder;
  using Self = Simulated<Interface, Builder>;
  static const SimulatedTable<Interface>& Table();
  nvinfer1::IHostMemory* Build(nvinfer1::INetworkDefinition& network,
                               nvinfer1::IBuilderConfig& config) noexcept;

  nvinfer1::ILogger& logger_;
  std::vector<std::unique_ptr<OptimizationProfile>> profiles_;
  Self simulated_;
};

}  // namespace lattice::simulated

#endif  // LATTICE_TEST_SIMULATED_TENSORRT_BUILDER_H_
