// A network of the simulated TensorRT: what an engine computes, by OpenVINO.
#ifndef LATTICE_TEST_SIMULATED_TENSORRT_HOST_NETWORK_H_
#define LATTICE_TEST_SIMULATED_TENSORRT_HOST_NETWORK_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <openvino/openvino.hpp>
#include <string>
#include <vector>

#include "test/native/simulated_tensorrt/plan.h"

namespace lattice::simulated {

// Throws what OpenVINO throws.
std::shared_ptr<ov::Model> ReadNetwork(const std::string& onnx);

// An input or output of a network.
struct HostTensor {
  std::string name;
  ov::Shape shape;  // of what one request computes
  ov::element::Type type;

  // Shape of a batch of `batch`.
  std::vector<int64_t> Shape(int64_t batch) const;
  size_t Bytes(int64_t batch) const;
};

// One image after the other, so that an image's answer does not depend on the batch around it; the
// same one again is not computed again, as the hundreds of grey ones with which slots are warmed.
// Thread-safe. Throws what OpenVINO throws.
class HostNetwork {
 public:
  // `input` is the shape of a batch; where the file leaves the batch open it does not count.
  HostNetwork(const std::string& onnx, const ProfileShape& input);

  // The input, then the outputs in the file's order.
  const std::vector<HostTensor>& tensors() const { return tensors_; }
  // Index of that name; the input's for a name that there is not.
  size_t IndexOf(const char* name) const;

  // `memory` has one entry for each of the tensors.
  void Run(const std::vector<void*>& memory, int64_t batch);

 private:
  std::mutex mutex_;
  std::vector<HostTensor> tensors_;
  ov::InferRequest request_;
  std::vector<std::vector<uint8_t>> last_;  // the tensors of the last request
};

}  // namespace lattice::simulated

#endif  // LATTICE_TEST_SIMULATED_TENSORRT_HOST_NETWORK_H_
