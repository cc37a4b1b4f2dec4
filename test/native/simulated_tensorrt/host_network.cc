#include "test/native/simulated_tensorrt/host_network.h"

#include <cstdint>

namespace lattice::simulated {
namespace {

// Elements of an input that no detector has: a matrix product by which a GPU's limit is measured,
// which would take a CPU minutes and whose result nobody reads.
constexpr size_t kNotComputed = size_t{8} << 20;

// Never destroyed, as its threads may outlive the statics.
ov::Core& Core() {
  static auto* core = new ov::Core();
  return *core;
}

}  // namespace

std::shared_ptr<ov::Model> ReadNetwork(const std::string& onnx) {
  return Core().read_model(onnx, ov::Tensor());
}

HostNetwork::HostNetwork(const std::string& onnx, const ProfileShape& input) {
  const auto model = ReadNetwork(onnx);
  input_name_ = model->input().get_any_name();
  output_name_ = model->output().get_any_name();
  const bool any_batch = model->input().get_partial_shape()[0].is_dynamic();
  model->reshape(ov::PartialShape{any_batch ? 1 : input[0], input[1], input[2], input[3]});
  auto compiled =
      Core().compile_model(model, "CPU", ov::hint::inference_precision(ov::element::f32),
                           ov::num_streams(1), ov::inference_num_threads(1));
  request_ = compiled.create_infer_request();
  input_ = compiled.input().get_shape();
  output_ = compiled.output().get_shape();
  input_type_ = compiled.input().get_element_type();
  output_type_ = compiled.output().get_element_type();
}

std::vector<int64_t> HostNetwork::Shape(const ov::Shape& one, int64_t batch) const {
  std::vector<int64_t> shape(one.begin(), one.end());
  if (!shape.empty()) shape[0] = batch;
  return shape;
}

size_t HostNetwork::InputBytes(int64_t batch) const {
  return ov::shape_size(input_) / input_[0] * input_type_.size() * static_cast<size_t>(batch);
}

size_t HostNetwork::OutputBytes(int64_t batch) const {
  return ov::shape_size(output_) / output_[0] * output_type_.size() * static_cast<size_t>(batch);
}

void HostNetwork::Run(const void* input, void* output, int64_t batch) {
  const std::lock_guard lock(mutex_);
  if (ov::shape_size(input_) > kNotComputed) return;
  const auto at_once = static_cast<int64_t>(input_[0]);
  const auto* from = static_cast<const uint8_t*>(input);
  auto* to = static_cast<uint8_t*>(output);
  for (int64_t done = 0; done < batch; done += at_once) {
    request_.set_input_tensor(ov::Tensor(input_type_, input_, const_cast<uint8_t*>(from)));
    request_.set_output_tensor(ov::Tensor(output_type_, output_, to));
    request_.infer();
    from += InputBytes(at_once);
    to += OutputBytes(at_once);
  }
}

}  // namespace lattice::simulated
