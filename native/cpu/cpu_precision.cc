#include "native/cpu/cpu_precision.h"

#include <time.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <openvino/openvino.hpp>
#include <openvino/opsets/opset8.hpp>
#include <random>
#include <vector>

#include "native/cpu/openvino_core.h"

namespace lattice {
namespace {

// A smaller gain is not worth the rounding.
constexpr double kBf16Gain = 1.1;
constexpr double kEightBitGain = 1.15;
constexpr int kRounds = 4;

enum class Arithmetic { kF32, kBf16, kEightBit };

bool HasBf16() {
  const auto capabilities = SharedCore().get_property("CPU", ov::device::capabilities);
  return std::find(capabilities.begin(), capabilities.end(), "BF16") != capabilities.end();
}

// Values of ordinary size: with denormal numbers float32 takes several times as long.
void FillWithNoise(float* values, size_t count) {
  std::mt19937 random(1);
  std::generate_n(values, count, [&] { return static_cast<float>(random() % 200) / 1000 - 0.1f; });
}

ov::Output<ov::Node> Number(float value) {
  return ov::opset8::Constant::create(ov::element::f32, ov::Shape{}, {value});
}

// The way in which a quantised network says that a tensor is rounded to 8 bits.
ov::Output<ov::Node> Rounded(const ov::Output<ov::Node>& values) {
  const auto low = Number(-0.3f);
  const auto high = Number(0.7f);
  return std::make_shared<ov::opset8::FakeQuantize>(values, low, high, low, high, 256);
}

ov::Output<ov::Node> Weights(const ov::Shape& shape, Arithmetic arithmetic) {
  std::vector<float> weights(ov::shape_size(shape));
  FillWithNoise(weights.data(), weights.size());
  if (arithmetic != Arithmetic::kEightBit) {
    return ov::opset8::Constant::create(ov::element::f32, shape, weights);
  }
  constexpr float kSteps = 600;
  std::vector<int8_t> rounded(weights.size());
  std::transform(weights.begin(), weights.end(), rounded.begin(),
                 [](float weight) { return static_cast<int8_t>(weight * kSteps); });
  const auto stored = ov::opset8::Constant::create(ov::element::i8, shape, rounded);
  const auto floats = std::make_shared<ov::opset8::Convert>(stored, ov::element::f32);
  return std::make_shared<ov::opset8::Multiply>(floats, Number(1 / kSteps));
}

ov::Output<ov::Node> Convolution(const ov::Output<ov::Node>& input, size_t outputs, size_t side,
                                 Arithmetic arithmetic) {
  const size_t inputs = input.get_shape()[1];
  const auto pad = static_cast<ptrdiff_t>(side / 2);
  const auto sums = std::make_shared<ov::opset8::Convolution>(
      arithmetic == Arithmetic::kEightBit ? Rounded(input) : input,
      Weights({outputs, inputs, side, side}, arithmetic), ov::Strides{1, 1},
      ov::CoordinateDiff{pad, pad}, ov::CoordinateDiff{pad, pad}, ov::Strides{1, 1});
  return std::make_shared<ov::opset8::Swish>(sums);
}

// The convolutions on which detectors of the v8 layout spend their time.
std::shared_ptr<ov::Model> SampleNetwork(Arithmetic arithmetic) {
  const auto input =
      std::make_shared<ov::opset8::Parameter>(ov::element::f32, ov::Shape{1, 32, 40, 40});
  ov::Output<ov::Node> last = Convolution(input, 64, 3, arithmetic);
  last = Convolution(last, 64, 1, arithmetic);
  last = Convolution(last, 64, 3, arithmetic);
  last = Convolution(last, 64, 3, arithmetic);
  return std::make_shared<ov::Model>(ov::OutputVector{last}, ov::ParameterVector{input});
}

// Uses one thread: synchronisation between several would hide the difference.
ov::InferRequest SampleRequest(Arithmetic arithmetic) {
  auto compiled =
      SharedCore().compile_model(SampleNetwork(arithmetic), "CPU",
                                 CpuProperties(1, 0, {.bf16 = arithmetic == Arithmetic::kBf16}));
  auto request = compiled.create_infer_request();
  ov::Tensor input = request.get_input_tensor();
  FillWithNoise(input.data<float>(), input.get_size());
  return request;
}

// CPU time of the calling thread: time of other programs on the core does not count.
double ThreadCpuMs() {
  timespec time{};
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

double BestOf(ov::InferRequest& request, double best_ms) {
  const double start = ThreadCpuMs();
  request.infer();
  return std::min(best_ms, ThreadCpuMs() - start);
}

// The speed in one arithmetic divided by that in another.
double Gain(Arithmetic arithmetic, Arithmetic over) {
  auto request = SampleRequest(arithmetic);
  auto other = SampleRequest(over);
  double ms = std::numeric_limits<double>::max();
  double other_ms = ms;
  // Alternating, and the best of each: other programs empty the caches for a while.
  for (int round = 0; round < kRounds; ++round) {
    other_ms = BestOf(other, other_ms);
    ms = BestOf(request, ms);
  }
  return other_ms / ms;
}

bool Bf16Pays() {
  static const bool pays = HasBf16() && Gain(Arithmetic::kBf16, Arithmetic::kF32) >= kBf16Gain;
  return pays;
}

}  // namespace

Result<bool> UsesBf16(const std::string& precision) {
  if (precision == "f32") return false;
  if (precision == "auto") return Bf16Pays();
  if (HasBf16()) return true;
  return Status(StatusCode::kInvalidModel,
                "This CPU has no bf16. Set the precision to auto or f32.");
}

bool EightBitPays() {
  static const bool pays = [] {
    try {
      const Arithmetic floats = Bf16Pays() ? Arithmetic::kBf16 : Arithmetic::kF32;
      return Gain(Arithmetic::kEightBit, floats) >= kEightBitGain;
    } catch (const std::exception&) {
      return false;
    }
  }();
  return pays;
}

}  // namespace lattice
