#include "native/cpu/rectangles.h"

#include <algorithm>

#include "native/letterbox/letterbox.h"

namespace lattice {
namespace {

// Width and height. Of seven, these add the least to what photos compute (docs/rectangles.md).
constexpr InputSize kUsualShapes[] = {{2, 1}, {16, 9}, {3, 2}, {4, 3}, {5, 4}, {6, 5}, {1, 1}};

// Large enough that rounding the sides to pixels does not change the shape.
constexpr int kScale = 1000;

}  // namespace

std::vector<InputSize> SmallestFirst(const std::vector<InputSize>& sizes) {
  std::vector<InputSize> sorted;
  for (const InputSize& size : sizes) {
    if (std::find(sorted.begin(), sorted.end(), size) == sorted.end()) sorted.push_back(size);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const InputSize& a, const InputSize& b) { return a.area() < b.area(); });
  return sorted;
}

std::vector<InputSize> UsualRectangles(const ModelInfo& info) {
  const InputSize own{info.input_width, info.input_height};
  const auto whole_strides = [&](int side) {
    return (side + info.stride - 1) / info.stride * info.stride;
  };
  std::vector<InputSize> sizes;
  const auto add = [&](int width, int height) {
    const auto held = ComputeLetterbox(width * kScale, height * kScale, own.width, own.height);
    const InputSize size{whole_strides(held.resized_width), whole_strides(held.resized_height)};
    if (size != own) sizes.push_back(size);
  };
  for (const auto& [width, height] : kUsualShapes) {
    add(width, height);
    add(height, width);
  }
  return SmallestFirst(sizes);
}

}  // namespace lattice
