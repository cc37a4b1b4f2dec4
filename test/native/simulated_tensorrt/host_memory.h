// Bytes that the simulated TensorRT gives away.
#ifndef LATTICE_TEST_SIMULATED_TENSORRT_HOST_MEMORY_H_
#define LATTICE_TEST_SIMULATED_TENSORRT_HOST_MEMORY_H_

#include <NvInfer.h>

#include <string>
#include <utility>

#include "test/native/simulated_tensorrt/simulated_interface.h"

namespace lattice::simulated {

class HostMemory final : public nvinfer1::IHostMemory {
 public:
  explicit HostMemory(std::string bytes) : bytes_(std::move(bytes)), simulated_(Table(), this) {
    mImpl = simulated_.get();
  }

 private:
  using Interface = nvinfer1::apiv::VHostMemory;
  using Self = Simulated<Interface, HostMemory>;

  static const SimulatedTable<Interface>& Table() {
    static const auto* table = [] {
      auto* made = new SimulatedTable<Interface>();
      made->Simulate(&Interface::data,
                     [](void* self) -> void* { return Self::OwnerOf(self).bytes_.data(); });
      made->Simulate(&Interface::size,
                     [](void* self) { return Self::OwnerOf(self).bytes_.size(); });
      return made;
    }();
    return *table;
  }

  std::string bytes_;
  Self simulated_;
};

}  // namespace lattice::simulated

#endif  // LATTICE_TEST_SIMULATED_TENSORRT_HOST_MEMORY_H_
