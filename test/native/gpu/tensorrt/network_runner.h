// Runs networks of either type on OpenVINO, in float32, for what engines make of them.
#ifndef LATTICE_TEST_GPU_TENSORRT_NETWORK_RUNNER_H_
#define LATTICE_TEST_GPU_TENSORRT_NETWORK_RUNNER_H_

#include <memory>
#include <openvino/openvino.hpp>
#include <string>
#include <vector>

#include "native/boxes/detections.h"

namespace lattice::test {

// The outputs of a network.
struct NetworkOutputs {
  std::vector<ov::Shape> shapes;
  std::vector<std::vector<float>> values;

  // Boxes of one image.
  Detections BoxesOf(const Head& head, size_t image, const LetterboxTransform& transform,
                     const DetectionOptions& options) const {
    const auto at = [&](size_t i) {
      return values[i].data() + image * values[i].size() / shapes[i][0];
    };
    HeadOutput output;
    if (head.layout == HeadLayout::kScales) {
      for (size_t i = 0; i < kHeadScales; ++i) {
        const ov::Shape& shape = shapes[2 * i];
        output.scales[i] = {at(2 * i), at(2 * i + 1), static_cast<int>(shape[3]),
                            static_cast<int>(shape[2] * shape[3])};
      }
    } else {
      output.rows = at(0);
      output.count = static_cast<int>(shapes[0][head.layout == HeadLayout::kFinal ? 1 : 2]);
    }
    return FindBoxes(head, output, transform, options);
  }
};

class NetworkRunner {
 public:
  // `input` closes the network's shape.
  NetworkRunner(const std::string& onnx, const ov::Shape& input) : input_(input) {
    const auto model = ov::Core().read_model(onnx, ov::Tensor());
    model->reshape(ov::PartialShape(input));
    ov::preprocess::PrePostProcessor ports(model);
    ports.input().tensor().set_element_type(ov::element::f32);
    const ov::AnyMap properties = {ov::hint::inference_precision(ov::element::f32),
                                   {"LP_TRANSFORMS_MODE", false}};
    request_ = ov::Core().compile_model(ports.build(), "CPU", properties).create_infer_request();
  }

  NetworkOutputs Run(const std::vector<float>& images) {
    request_.set_input_tensor(
        ov::Tensor(ov::element::f32, input_, const_cast<float*>(images.data())));
    request_.infer();
    NetworkOutputs outputs;
    for (size_t i = 0; i < request_.get_compiled_model().outputs().size(); ++i) {
      const ov::Tensor tensor = request_.get_output_tensor(i);
      outputs.shapes.push_back(tensor.get_shape());
      std::vector<float>& values = outputs.values.emplace_back(tensor.get_size());
      const bool half = tensor.get_element_type() == ov::element::f16;
      for (size_t k = 0; k < values.size(); ++k) {
        values[k] =
            half ? static_cast<float>(tensor.data<ov::float16>()[k]) : tensor.data<float>()[k];
      }
    }
    return outputs;
  }

 private:
  ov::Shape input_;
  ov::InferRequest request_;
};

}  // namespace lattice::test

#endif  // LATTICE_TEST_GPU_TENSORRT_NETWORK_RUNNER_H_
