#include "native/cpu/cpu_precision.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <openvino/openvino.hpp>
#include <openvino/opsets/opset8.hpp>
#include <random>
#include <vector>

#include "native/base/stopwatch.h"
#include "native/cpu/openvino_core.h"

namespace lattice {
namespace {

// A smaller gain is not worth the rounding.
constexpr double kWorthwhileGain = 1.1;
constexpr int kRounds = 4;

bool HasBf16() {
  const auto capabilities = SharedCore().get_property("CPU", ov::device::capabilities);
  return std::find(capabilities.begin(), capabilities.end(), "BF16") != capabilities.end();
}

// Values of ordinary size: with denormal numbers float32 takes several times as long.
void FillWithNoise(float* values, size_t count) {
  std::mt19937 random(1);
  std::generate_n(values, count, [&] { return static_cast<float>(random() % 200) / 1000 - 0.1f; });
}

ov::Output<ov::Node> Convolution(const ov::Output<ov::Node>& input, size_t outputs, size_t side) {
  const size_t inputs = input.get_shape()[1];
  std::vector<float> weights(outputs * inputs * side * side);
  FillWithNoise(weights.data(), weights.size());
  const auto constant = ov::opset8::Constant::create(
      ov::element::f32, ov::Shape{outputs, inputs, side, side}, weights);
  const auto pad = static_cast<ptrdiff_t>(side / 2);
  const auto sums = std::make_shared<ov::opset8::Convolution>(
      input, constant, ov::Strides{1, 1}, ov::CoordinateDiff{pad, pad},
      ov::CoordinateDiff{pad, pad}, ov::Strides{1, 1});
  return std::make_shared<ov::opset8::Swish>(sums);
}

// The convolutions on which detectors of the v8 layout spend their time.
std::shared_ptr<ov::Model> SampleNetwork() {
  const auto input =
      std::make_shared<ov::opset8::Parameter>(ov::element::f32, ov::Shape{1, 32, 40, 40});
  ov::Output<ov::Node> last = Convolution(input, 64, 3);
  last = Convolution(last, 64, 1);
  last = Convolution(last, 64, 3);
  last = Convolution(last, 64, 3);
  return std::make_shared<ov::Model>(ov::OutputVector{last}, ov::ParameterVector{input});
}

// One thread: synchronisation between several would hide the difference.
ov::InferRequest SampleRequest(bool in_bf16) {
  auto compiled =
      SharedCore().compile_model(SampleNetwork(), "CPU", CpuProperties(1, 0, {.bf16 = in_bf16}));
  auto request = compiled.create_infer_request();
  ov::Tensor input = request.get_input_tensor();
  FillWithNoise(input.data<float>(), input.get_size());
  return request;
}

double BestOf(ov::InferRequest& request, double best_ms) {
  Stopwatch watch;
  request.infer();
  return std::min(best_ms, watch.Lap());
}

// The speed of bfloat16 divided by that of float32.
double Bf16Gain() {
  auto f32 = SampleRequest(false);
  auto bf16 = SampleRequest(true);
  double f32_ms = std::numeric_limits<double>::max();
  double bf16_ms = f32_ms;
  // Alternating, and the best of each: other programs may use the core for a while.
  for (int round = 0; round < kRounds; ++round) {
    f32_ms = BestOf(f32, f32_ms);
    bf16_ms = BestOf(bf16, bf16_ms);
  }
  return f32_ms / bf16_ms;
}

}  // namespace

Result<bool> UsesBf16(const std::string& precision) {
  if (precision == "f32") return false;
  static const bool has_bf16 = HasBf16();
  if (precision == "auto") {
    static const bool is_faster = has_bf16 && Bf16Gain() >= kWorthwhileGain;
    return is_faster;
  }
  if (has_bf16) return true;
  return Status(StatusCode::kInvalidModel,
                "This CPU has no bf16. Set the precision to auto or f32.");
}

}  // namespace lattice
