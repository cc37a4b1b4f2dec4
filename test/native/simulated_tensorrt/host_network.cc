#include "test/native/simulated_tensorrt/host_network.h"

#include <algorithm>
#include <cstdint>

namespace lattice::simulated {
namespace {

// Elements of an input that no detector has: a matrix product by which a GPU's limit is measured,
// which would take a CPU minutes and whose result is not used.
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

std::vector<int64_t> HostTensor::Shape(int64_t batch) const {
  std::vector<int64_t> sides(shape.begin(), shape.end());
  if (!sides.empty()) sides[0] = batch;
  return sides;
}

size_t HostTensor::Bytes(int64_t batch) const {
  return ov::shape_size(shape) / shape[0] * type.size() * static_cast<size_t>(batch);
}

HostNetwork::HostNetwork(const std::string& onnx, const ProfileShape& input) {
  const auto model = ReadNetwork(onnx);
  const bool any_batch = model->input().get_partial_shape()[0].is_dynamic();
  model->reshape(ov::PartialShape{any_batch ? 1 : input[0], input[1], input[2], input[3]});
  // In floats: of quantised numbers with a sign the library's integer convolutions are wrong.
  const ov::AnyMap properties = {ov::hint::inference_precision(ov::element::f32),
                                 ov::num_streams(1),
                                 ov::inference_num_threads(1),
                                 {"LP_TRANSFORMS_MODE", false}};
  auto compiled = Core().compile_model(model, "CPU", properties);
  request_ = compiled.create_infer_request();
  const auto add = [&](const ov::Output<ov::Node>& from, const auto& port) {
    tensors_.push_back({from.get_any_name(), port.get_shape(), port.get_element_type()});
  };
  add(model->input(), compiled.input());
  for (size_t i = 0; i < model->outputs().size(); ++i) add(model->output(i), compiled.output(i));
  last_.resize(tensors_.size());
}

size_t HostNetwork::IndexOf(const char* name) const {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                  [&](const HostTensor& tensor) { return tensor.name == name; });
  return found == tensors_.end() ? 0 : static_cast<size_t>(found - tensors_.begin());
}

void HostNetwork::Run(const std::vector<void*>& memory, int64_t batch) {
  const std::lock_guard lock(mutex_);
  if (ov::shape_size(tensors_[0].shape) > kNotComputed) return;
  const auto at_once = static_cast<int64_t>(tensors_[0].shape[0]);
  for (int64_t done = 0; done < batch; done += at_once) {
    const auto at = [&](size_t tensor) {
      return static_cast<uint8_t*>(memory[tensor]) + tensors_[tensor].Bytes(done);
    };
    const auto bytes = [&](size_t tensor) { return tensors_[tensor].Bytes(at_once); };
    const bool same = std::equal(last_[0].begin(), last_[0].end(), at(0), at(0) + bytes(0));
    for (size_t i = 0; !same && i < tensors_.size(); ++i) {
      const ov::Tensor tensor(tensors_[i].type, tensors_[i].shape, at(i));
      if (i == 0) {
        request_.set_input_tensor(tensor);
      } else {
        request_.set_output_tensor(i - 1, tensor);
      }
    }
    if (!same) request_.infer();
    for (size_t i = 0; i < tensors_.size(); ++i) {
      if (same) {
        if (i > 0) std::copy(last_[i].begin(), last_[i].end(), at(i));
      } else {
        last_[i].assign(at(i), at(i) + bytes(i));
      }
    }
  }
}

}  // namespace lattice::simulated
