#include "native/cpu/findings.h"

#include <array>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace lattice {
namespace {

using FindingNumbers = std::array<int, kFindingsBytes / sizeof(int)>;

FindingNumbers NumbersOf(const Findings& findings) {
  const Head& head = findings.head;
  return {findings.input.width,
          findings.input.height,
          static_cast<int>(head.layout),
          head.classes,
          head.bins,
          head.strides[0],
          head.strides[1],
          head.strides[2],
          head.one_to_one,
          findings.anchors,
          findings.any_rectangle,
          findings.fixed_batch,
          findings.stretched,
          findings.only_f32,
          static_cast<int>(findings.quantization)};
}

// Takes the numbers in their order, each within its bounds.
class BoundedNumbers {
 public:
  explicit BoundedNumbers(const FindingNumbers& numbers) : numbers_(numbers) {}

  int Next(int least, int most) {
    const int number = numbers_[at_++];
    ok_ = ok_ && number >= least && number <= most;
    return ok_ ? number : least;
  }
  int Count() { return Next(0, std::numeric_limits<int>::max()); }
  bool Flag() { return Next(0, 1) == 1; }
  bool ok() const { return ok_; }

 private:
  const FindingNumbers& numbers_;
  size_t at_ = 0;
  bool ok_ = true;
};

// Whether the strides make whole cells of the input.
bool HasGrids(const Findings& findings) {
  for (const int stride : findings.head.strides) {
    if (stride < 1 || findings.input.width % stride != 0 || findings.input.height % stride != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

Findings FoundIn(const OpenVinoModel& model) {
  const ModelInfo& info = model.info;
  return {.input = {info.input_width, info.input_height},
          .head = info.head,
          .anchors = info.anchors,
          .any_rectangle = info.any_rectangle,
          .fixed_batch = info.fixed_batch,
          .stretched = info.stretched,
          .only_f32 = info.only_f32,
          .quantization = model.quantization};
}

void Describe(const Findings& findings, ModelInfo* info) {
  info->input_width = findings.input.width;
  info->input_height = findings.input.height;
  info->head = findings.head;
  info->anchors = findings.anchors;
  info->any_rectangle = findings.any_rectangle;
  info->fixed_batch = findings.fixed_batch;
  info->stretched = findings.stretched;
  info->only_f32 = findings.only_f32;
}

std::vector<char> BytesOf(const Findings& findings) {
  const FindingNumbers numbers = NumbersOf(findings);
  std::vector<char> bytes(sizeof(numbers));
  std::memcpy(bytes.data(), numbers.data(), sizeof(numbers));
  return bytes;
}

std::optional<Findings> ReadFindings(std::span<const char> bytes, size_t classes) {
  FindingNumbers read;
  if (bytes.size() < sizeof(read) || classes > std::numeric_limits<int>::max()) return std::nullopt;
  std::memcpy(read.data(), bytes.data(), sizeof(read));
  BoundedNumbers numbers(read);
  Findings findings;
  findings.input = {numbers.Count(), numbers.Count()};
  findings.head.layout = static_cast<HeadLayout>(numbers.Next(0, 2));
  findings.head.classes = numbers.Next(static_cast<int>(classes), static_cast<int>(classes));
  findings.head.bins = numbers.Count();
  for (int& stride : findings.head.strides) stride = numbers.Count();
  findings.head.one_to_one = numbers.Flag();
  findings.anchors = numbers.Count();
  findings.any_rectangle = numbers.Flag();
  findings.fixed_batch = numbers.Count();
  findings.stretched = numbers.Flag();
  findings.only_f32 = numbers.Flag();
  findings.quantization = static_cast<Quantization>(numbers.Next(0, 2));
  const bool cut = findings.head.layout == HeadLayout::kScales;
  if (!numbers.ok() || (cut && !HasGrids(findings))) return std::nullopt;
  return findings;
}

void CheckPorts(const ov::CompiledModel& network, const Findings& findings) {
  const auto& [input, head, anchors, any_rectangle, fixed_batch, stretched, only_f32, quantized] =
      findings;
  const ov::Dimension batch = fixed_batch > 0 ? fixed_batch : 1;
  std::vector<ov::PartialShape> outputs;
  if (head.layout == HeadLayout::kFinal) outputs = {{batch, -1, 6}};
  if (head.layout == HeadLayout::kRows) outputs = {{batch, 4 + head.classes, anchors}};
  for (size_t i = 0; head.layout == HeadLayout::kScales && i < 2 * kHeadScales; ++i) {
    const int stride = head.strides[i / 2];
    const int64_t channels = i % 2 == 0 ? int64_t{4} * head.bins : head.classes;
    outputs.push_back({batch, channels, input.height / stride, input.width / stride});
  }
  const auto found_input =
      network.inputs().size() == 1 ? network.input().get_partial_shape() : ov::PartialShape();
  // Sides are open for the rectangles of a list too, which the findings do not have.
  bool fits = (found_input.is_dynamic() || !any_rectangle) &&
              found_input.compatible({batch, 3, input.height, input.width}) &&
              network.outputs().size() == outputs.size();
  for (size_t i = 0; fits && i < outputs.size(); ++i) {
    fits = network.output(i).get_partial_shape().compatible(outputs[i]);
  }
  if (!fits) throw std::runtime_error("its input and outputs are not those of the model");
}

}  // namespace lattice
