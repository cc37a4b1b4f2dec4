#include "native/cpu/findings.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace lattice {
namespace {

constexpr int kMost = std::numeric_limits<int>::max();

// Calls `each` with every number, its least and its most, in the order in which they are kept.
template <typename Each>
void ForEachNumber(Findings& findings, const Each& each) {
  Head& head = findings.head;
  each(findings.input_width, 0, kMost);
  each(findings.input_height, 0, kMost);
  each(head.layout, 0, static_cast<int>(HeadLayout::kFinal));
  each(head.classes, 0, kMost);
  each(head.bins, 0, kMost);
  for (int& stride : head.strides) each(stride, 0, kMost);
  each(head.one_to_one, 0, 1);
  each(findings.anchors, 0, kMost);
  each(findings.any_rectangle, 0, 1);
  each(findings.fixed_batch, 0, kMost);
  each(findings.stretched, 0, 1);
  each(findings.only_f32, 0, 1);
  each(findings.quantization, 0, static_cast<int>(Quantization::kSigned));
}

// Whether the strides make whole cells of the input.
bool HasGrids(const Findings& findings) {
  for (const int stride : findings.head.strides) {
    if (stride < 1 || findings.input_width % stride != 0 || findings.input_height % stride != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<char> BytesOf(Findings findings) {
  std::vector<char> bytes(kFindingsBytes);
  std::span<char> rest(bytes);
  ForEachNumber(findings, [&](const auto& number, int, int) {
    const auto kept = static_cast<int>(number);
    std::memcpy(rest.data(), &kept, sizeof(kept));
    rest = rest.subspan(sizeof(kept));
  });
  return bytes;
}

std::optional<Findings> ReadFindings(std::span<const char> bytes, size_t classes) {
  if (bytes.size() < kFindingsBytes) return std::nullopt;
  Findings findings;
  bool ok = true;
  ForEachNumber(findings, [&](auto& number, int least, int most) {
    int kept = 0;
    std::memcpy(&kept, bytes.data(), sizeof(kept));
    bytes = bytes.subspan(sizeof(kept));
    ok = ok && kept >= least && kept <= most;
    if (ok) number = static_cast<std::remove_reference_t<decltype(number)>>(kept);
  });
  const bool cut = findings.head.layout == HeadLayout::kScales;
  ok = ok && static_cast<size_t>(findings.head.classes) == classes && (!cut || HasGrids(findings));
  return ok ? std::optional(findings) : std::nullopt;
}

void CheckPorts(const ov::CompiledModel& network, const Findings& findings) {
  const Head& head = findings.head;
  const int width = findings.input_width;
  const int height = findings.input_height;
  const ov::Dimension batch = std::max(1, findings.fixed_batch);
  std::vector<ov::PartialShape> outputs;
  if (head.layout == HeadLayout::kFinal) outputs = {{batch, -1, 6}};
  if (head.layout == HeadLayout::kRows) outputs = {{batch, 4 + head.classes, findings.anchors}};
  for (size_t i = 0; head.layout == HeadLayout::kScales && i < 2 * kHeadScales; ++i) {
    const int stride = head.strides[i / 2];
    const int64_t channels = i % 2 == 0 ? int64_t{4} * head.bins : head.classes;
    outputs.push_back({batch, channels, height / stride, width / stride});
  }
  const auto found_input =
      network.inputs().size() == 1 ? network.input().get_partial_shape() : ov::PartialShape();
  // Sides are open for the rectangles of a list too, which the findings do not have.
  bool fits = (found_input.is_dynamic() || !findings.any_rectangle) &&
              found_input.compatible({batch, 3, height, width}) &&
              network.outputs().size() == outputs.size();
  for (size_t i = 0; fits && i < outputs.size(); ++i) {
    fits = network.output(i).get_partial_shape().compatible(outputs[i]);
  }
  if (!fits) throw std::runtime_error("its input and outputs are not those of the model");
}

}  // namespace lattice
