// The network that the simulated parser fills and the simulated builder takes.
#ifndef LATTICE_TEST_SIMULATED_TENSORRT_NETWORK_DEFINITION_H_
#define LATTICE_TEST_SIMULATED_TENSORRT_NETWORK_DEFINITION_H_

#include <NvInfer.h>

#include <memory>
#include <string>

#include "test/native/simulated_tensorrt/host_network.h"
#include "test/native/simulated_tensorrt/simulated_interface.h"

namespace lattice::simulated {

class NamedTensor final : public nvinfer1::ITensor {
 public:
  explicit NamedTensor(std::string name) : name_(std::move(name)), simulated_(Table(), this) {
    mImpl = simulated_.get();
  }

 private:
  using Interface = nvinfer1::apiv::VTensor;
  using Self = Simulated<Interface, NamedTensor>;

  static const SimulatedTable<Interface>& Table() {
    static const auto* table = [] {
      auto* made = new SimulatedTable<Interface>();
      made->Simulate(&Interface::getName,
                     [](void* self) -> const char* { return Self::OwnerOf(self).name_.c_str(); });
      return made;
    }();
    return *table;
  }

  std::string name_;
  Self simulated_;
};

// One parser fills it, with what is told of the network, before the builder takes it.
class NetworkDefinition final : public nvinfer1::INetworkDefinition {
 public:
  NetworkDefinition() : simulated_(Table(), this) { mImpl = simulated_.get(); }

  void Fill(std::string onnx, const std::string& input) {
    onnx_ = std::move(onnx);
    input_ = std::make_unique<NamedTensor>(input);
  }
  const std::string& onnx() const { return onnx_; }

 private:
  using Interface = nvinfer1::apiv::VNetworkDefinition;
  using Self = Simulated<Interface, NetworkDefinition>;

  static const SimulatedTable<Interface>& Table() {
    static const auto* table = [] {
      auto* made = new SimulatedTable<Interface>();
      made->Simulate(&Interface::getNbInputs,
                     [](void* self) -> int32_t { return Self::OwnerOf(self).input_ ? 1 : 0; });
      made->Simulate(&Interface::getInput, [](void* self, int32_t) -> nvinfer1::ITensor* {
        return Self::OwnerOf(self).input_.get();
      });
      return made;
    }();
    return *table;
  }

  std::string onnx_;
  std::unique_ptr<NamedTensor> input_;
  Self simulated_;
};

}  // namespace lattice::simulated

#endif  // LATTICE_TEST_SIMULATED_TENSORRT_NETWORK_DEFINITION_H_
