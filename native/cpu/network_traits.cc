#include "native/cpu/network_traits.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace lattice {
namespace {

constexpr int kMax = std::numeric_limits<int>::max();

// Calls `each` with every number, its smallest and its largest value. This order is the format of
// the stored file: after a change of it raise kFormat in compiled_network.cc.
template <typename Each>
constexpr void ForEachNumber(NetworkTraits& traits, const Each& each) {
  Head& head = traits.head;
  each(traits.input_width, 0, kMax);
  each(traits.input_height, 0, kMax);
  each(head.layout, 0, static_cast<int>(HeadLayout::kFinal));
  each(head.classes, 0, kMax);
  each(head.bins, 0, kMax);
  for (int& stride : head.strides) each(stride, 0, kMax);
  each(head.one_to_one, 0, 1);
  each(traits.anchors, 0, kMax);
  each(traits.any_rectangle, 0, 1);
  each(traits.fixed_batch, 0, kMax);
  each(traits.stretched, 0, 1);
  each(traits.only_f32, 0, 1);
  each(traits.quantization, 0, static_cast<int>(Quantization::kSigned));
  each(traits.byte_input, 0, 1);
}

constexpr size_t CountNumbers() {
  NetworkTraits traits;
  size_t count = 0;
  ForEachNumber(traits, [&](const auto&, int, int) { ++count; });
  return count;
}
static_assert(kTraitsBytes == CountNumbers() * sizeof(int));

// Whether the strides make whole cells of the input.
bool HasGrids(const NetworkTraits& traits) {
  for (const int stride : traits.head.strides) {
    if (stride < 1 || traits.input_width % stride != 0 || traits.input_height % stride != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<char> BytesOf(NetworkTraits traits) {
  std::vector<char> bytes(kTraitsBytes);
  std::span<char> rest(bytes);
  ForEachNumber(traits, [&](const auto& number, int, int) {
    const auto stored = static_cast<int>(number);
    std::memcpy(rest.data(), &stored, sizeof(stored));
    rest = rest.subspan(sizeof(stored));
  });
  return bytes;
}

std::optional<NetworkTraits> ReadTraits(std::span<const char> bytes, size_t classes) {
  if (bytes.size() < kTraitsBytes) return std::nullopt;
  NetworkTraits traits;
  bool ok = true;
  ForEachNumber(traits, [&](auto& number, int min, int max) {
    int stored = 0;
    std::memcpy(&stored, bytes.data(), sizeof(stored));
    bytes = bytes.subspan(sizeof(stored));
    ok = ok && stored >= min && stored <= max;
    if (ok) number = static_cast<std::remove_reference_t<decltype(number)>>(stored);
  });
  // Only a cut network has grids.
  const bool cut = traits.head.layout == HeadLayout::kScales;
  ok = ok && static_cast<size_t>(traits.head.classes) == classes && (!cut || HasGrids(traits));
  return ok ? std::optional(traits) : std::nullopt;
}

ov::element::Type InputType(const NetworkTraits& traits) {
  return traits.byte_input ? ov::element::u8 : ov::element::f32;
}

void CheckPorts(const ov::CompiledModel& network, const NetworkTraits& traits) {
  const Head& head = traits.head;
  const int width = traits.input_width;
  const int height = traits.input_height;
  const ov::Dimension batch = std::max(1, traits.fixed_batch);
  std::vector<ov::PartialShape> outputs;
  if (head.layout == HeadLayout::kFinal) outputs = {{batch, -1, 6}};
  if (head.layout == HeadLayout::kRows) outputs = {{batch, 4 + head.classes, traits.anchors}};
  for (size_t i = 0; head.layout == HeadLayout::kScales && i < 2 * kHeadScales; ++i) {
    const int stride = head.strides[i / 2];
    const int64_t channels = i % 2 == 0 ? int64_t{4} * head.bins : head.classes;
    outputs.push_back({batch, channels, height / stride, width / stride});
  }
  const auto found_input =
      network.inputs().size() == 1 ? network.input().get_partial_shape() : ov::PartialShape();
  // An open input does not imply any_rectangle: a model with listed rectangles also has open sides,
  // and the traits do not have that list.
  bool fits = (found_input.is_dynamic() || !traits.any_rectangle) &&
              found_input.compatible({batch, 3, height, width}) &&
              network.input().get_element_type() == InputType(traits) &&
              network.outputs().size() == outputs.size();
  for (size_t i = 0; fits && i < outputs.size(); ++i) {
    fits = network.output(i).get_partial_shape().compatible(outputs[i]);
  }
  if (!fits) throw std::runtime_error("its input and outputs are not those of the model");
}

}  // namespace lattice
