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

// One image after the other, so that an image's answer does not depend on the batch around it; the
// same one again is not computed again, as the hundreds of grey ones with which slots are warmed.
// Thread-safe. Throws what OpenVINO throws.
class HostNetwork {
 public:
  // `input` is the shape of a batch; where the file leaves the batch open it does not count.
  HostNetwork(const std::string& onnx, const ProfileShape& input);

  const std::string& input_name() const { return input_name_; }
  const std::string& output_name() const { return output_name_; }
  // Of its two tensors; else it is the output.
  bool IsInput(const char* tensor) const { return input_name_ == tensor; }
  // Of a batch of `batch`.
  std::vector<int64_t> InputShape(int64_t batch) const { return Shape(input_, batch); }
  std::vector<int64_t> OutputShape(int64_t batch) const { return Shape(output_, batch); }
  size_t InputBytes(int64_t batch) const;   // halves
  size_t OutputBytes(int64_t batch) const;  // floats

  void Run(const void* input, void* output, int64_t batch);

 private:
  std::vector<int64_t> Shape(const ov::Shape& one, int64_t batch) const;

  std::mutex mutex_;
  std::string input_name_;
  std::string output_name_;
  ov::Shape input_;  // of what one request computes
  ov::Shape output_;
  ov::element::Type input_type_;
  ov::element::Type output_type_;
  ov::InferRequest request_;
  std::vector<uint8_t> last_input_;
  std::vector<uint8_t> last_output_;
};

}  // namespace lattice::simulated

#endif  // LATTICE_TEST_SIMULATED_TENSORRT_HOST_NETWORK_H_
