// Bytes that the simulated TensorRT gives away.
#ifndef LATTICE_TEST_SIMULATED_TENSORRT_HOST_MEMORY_H_
#define LATTICE_TEST_SIMULATED_TENSORRT_HOST_MEMORY_H_

#include <NvInfer.h>

#include <string>
#include <utility>

#include "test/native/simulated_tensorrt/played_interface.h"

namespace lattice::simulated {

class HostMemory final : public nvinfer1::IHostMemory {
 public:
  explicit HostMemory(std::string bytes) : bytes_(std::move(bytes)), played_(Table(), this) {
    mImpl = played_.get();
  }

 private:
  using Interface = nvinfer1::apiv::VHostMemory;
  using Self = Played<Interface, HostMemory>;

  static const PlayedTable<Interface>& Table() {
    static const auto* table = [] {
      auto* made = new PlayedTable<Interface>();
      made->Play(&Interface::data,
                 [](void* self) -> void* { return Self::OwnerOf(self).bytes_.data(); });
      made->Play(&Interface::size, [](void* self) { return Self::OwnerOf(self).bytes_.size(); });
      return made;
    }();
    return *table;
  }

  std::string bytes_;
  Self played_;
};

}  // namespace lattice::simulated

#endif  // LATTICE_TEST_SIMULATED_TENSORRT_HOST_MEMORY_H_
