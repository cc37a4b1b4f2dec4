#include "native/cpu/cpu_precision.h"

#include <time.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <openvino/openvino.hpp>
#include <openvino/opsets/opset8.hpp>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "native/cpu/library_and_cpu.h"
#include "native/cpu/openvino_core.h"
#include "native/kept/file_name.h"
#include "native/kept/kept_folder.h"

namespace lattice {
namespace {

// A smaller gain is not worth the rounding.
constexpr double kBf16Gain = 1.1;
constexpr double kEightBitGain = 1.15;
constexpr int kRounds = 4;

// A gain that is so much larger or smaller than needed is measured once: noise would not turn the
// answer. Any other is measured at so many starts.
constexpr double kClear = 1.2;
constexpr size_t kStarts = 5;

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

std::optional<KeptFolder> OpenFolder(const std::string& folder) {
  if (folder.empty()) return std::nullopt;
  auto opened = KeptFolder::Open(folder);
  if (!opened.ok()) return std::nullopt;
  return *std::move(opened);
}

// The file has the gains as text, with a blank behind each.
std::vector<double> LoadGains(const KeptFolder& folder, const std::string& file) {
  const auto bytes = folder.Load(file);
  if (!bytes) return {};
  std::istringstream text(std::string(bytes->begin(), bytes->end()));
  return {std::istream_iterator<double>(text), {}};
}

void StoreGains(const KeptFolder& folder, const std::string& file,
                const std::vector<double>& gains) {
  const auto lock = folder.Lock("gains", Clock::now());
  if (!lock.ok()) return;
  std::ostringstream text;
  for (const double gain : gains) text << gain << ' ';
  (void)folder.Store(file, text.str());
}

double Median(std::vector<double> gains) {
  const auto middle = gains.begin() + static_cast<ptrdiff_t>(gains.size() / 2);
  std::nth_element(gains.begin(), middle, gains.end());
  return *middle;
}

bool IsSettled(const std::vector<double>& gains, double needed) {
  if (gains.empty()) return false;
  const double gain = Median(gains);
  return gains.size() >= kStarts || gain >= needed * kClear || gain * kClear <= needed;
}

// Whether the gain is as large as needed: the median of those that the kept file has, and of one
// more by `measure` while they are not settled.
bool IsEnough(const std::string& name, double needed, const std::string& kept_folder,
              const std::function<double()>& measure) {
  const auto folder = OpenFolder(kept_folder);
  const std::string file = name + "_" + HashPart(LibraryAndCpu()) + ".gain";
  std::vector<double> gains = folder ? LoadGains(*folder, file) : std::vector<double>();
  if (!IsSettled(gains, needed)) {
    gains.push_back(measure());
    if (folder) StoreGains(*folder, file, gains);
  }
  return Median(gains) >= needed;
}

bool Bf16Pays(const std::string& kept_folder) {
  static const bool pays = HasBf16() && IsEnough("bf16", kBf16Gain, kept_folder, [] {
                             return Gain(Arithmetic::kBf16, Arithmetic::kF32);
                           });
  return pays;
}

}  // namespace

Result<bool> UsesBf16(const std::string& precision, const std::string& kept_folder) {
  if (precision == "f32") return false;
  if (precision == "auto") return Bf16Pays(kept_folder);
  if (HasBf16()) return true;
  return Status(StatusCode::kInvalidModel,
                "This CPU has no bf16. Set the precision to auto or f32.");
}

bool EightBitPays(const std::string& kept_folder) {
  static const bool pays = [&] {
    try {
      const bool bf16 = Bf16Pays(kept_folder);
      const Arithmetic floats = bf16 ? Arithmetic::kBf16 : Arithmetic::kF32;
      return IsEnough(bf16 ? "int8-over-bf16" : "int8-over-f32", kEightBitGain, kept_folder,
                      [&] { return Gain(Arithmetic::kEightBit, floats); });
    } catch (const std::exception&) {
      return false;
    }
  }();
  return pays;
}

}  // namespace lattice
