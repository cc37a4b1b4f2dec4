// The network that the simulated parser fills and the simulated builder takes.
#ifndef LATTICE_TEST_SIMULATED_TENSORRT_NETWORK_DEFINITION_H_
#define LATTICE_TEST_SIMULATED_TENSORRT_NETWORK_DEFINITION_H_

#include <NvInfer.h>

#include <memory>
#include <string>

#include "test/native/simulated_tensorrt/host_network.h"
#include "test/native/simulated_tensorrt/played_interface.h"

namespace lattice::simulated {

class NamedTensor final : public nvinfer1::ITensor {
 public:
  explicit NamedTensor(std::string name) : name_(std::move(name)), played_(Table(), this) {
    mImpl = played_.get();
  }

 private:
  using Interface = nvinfer1::apiv::VTensor;
  using Self = Played<Interface, NamedTensor>;

  static const PlayedTable<Interface>& Table() {
    static const auto* table = [] {
      auto* made = new PlayedTable<Interface>();
      made->Play(&Interface::getName,
                 [](void* self) -> const char* { return Self::OwnerOf(self).name_.c_str(); });
      return made;
    }();
    return *table;
  }

  std::string name_;
  Self played_;
};

// One parser fills it, with what is told of the network, before the builder takes it.
class NetworkDefinition final : public nvinfer1::INetworkDefinition {
 public:
  NetworkDefinition() : played_(Table(), this) { mImpl = played_.get(); }

  void Fill(std::string onnx, const std::string& input) {
    onnx_ = std::move(onnx);
    input_ = std::make_unique<NamedTensor>(input);
  }
  const std::string& onnx() const { return onnx_; }

 private:
  using Interface = nvinfer1::apiv::VNetworkDefinition;
  using Self = Played<Interface, NetworkDefinition>;

  static const PlayedTable<Interface>& Table() {
    static const auto* table = [] {
      auto* made = new PlayedTable<Interface>();
      made->Play(&Interface::getNbInputs,
                 [](void* self) -> int32_t { return Self::OwnerOf(self).input_ ? 1 : 0; });
      made->Play(&Interface::getInput, [](void* self, int32_t) -> nvinfer1::ITensor* {
        return Self::OwnerOf(self).input_.get();
      });
      return made;
    }();
    return *table;
  }

  std::string onnx_;
  std::unique_ptr<NamedTensor> input_;
  Self played_;
};

}  // namespace lattice::simulated

#endif  // LATTICE_TEST_SIMULATED_TENSORRT_NETWORK_DEFINITION_H_
