#include "native/engine/openvino/openvino_regrid.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <openvino/op/constant.hpp>
#include <openvino/op/reshape.hpp>
#include <vector>

namespace lattice {
namespace {

// Of the three scales together, finest first, row by row.
struct AnchorGrid {
  std::vector<float> centres;       // all x, then all y, in cells
  std::vector<float> widths;        // of the cells, in pixels
  std::array<int64_t, 4> counts{};  // of anchors: each scale's, then all
};

AnchorGrid GridOf(InputSize input, int stride) {
  AnchorGrid grid;
  std::vector<float> rows;
  for (size_t scale = 0; scale < 3; ++scale) {
    const int width = stride >> (2 - scale);
    const int across = input.width / width;
    const int down = input.height / width;
    grid.counts[scale] = int64_t{across} * down;
    grid.counts[3] += grid.counts[scale];
    for (int y = 0; y < down; ++y) {
      for (int x = 0; x < across; ++x) {
        grid.centres.push_back(static_cast<float>(x) + 0.5f);
        rows.push_back(static_cast<float>(y) + 0.5f);
        grid.widths.push_back(static_cast<float>(width));
      }
    }
  }
  grid.centres.insert(grid.centres.end(), rows.begin(), rows.end());
  return grid;
}

template <typename Value>
void Replace(const std::shared_ptr<ov::op::v0::Constant>& constant, const ov::Shape& shape,
             const std::vector<Value>& values) {
  const auto other = ov::op::v0::Constant::create(constant->get_element_type(), shape, values);
  constant->output(0).replace(other->output(0));
}

// Constants that hold something for each anchor.
bool ReplacePlaces(const std::shared_ptr<ov::op::v0::Constant>& constant, const AnchorGrid& from,
                   const AnchorGrid& to) {
  ov::Shape shape = constant->get_shape();
  shape.back() = to.widths.size();
  const std::vector<float> values = constant->cast_vector<float>();
  if (values == from.centres) {
    Replace(constant, shape, to.centres);
  } else if (values == from.widths) {
    Replace(constant, shape, to.widths);
  } else {
    return false;
  }
  return true;
}

// Shapes that count anchors, of one scale or of all.
void ReplaceCounts(const std::shared_ptr<ov::op::v0::Constant>& constant, const AnchorGrid& from,
                   const AnchorGrid& to) {
  std::vector<int64_t> sides = constant->cast_vector<int64_t>();
  const std::vector<int64_t> before = sides;
  for (int64_t& side : sides) {
    const auto count = std::find(from.counts.begin(), from.counts.end(), side);
    if (count != from.counts.end()) {
      side = to.counts[static_cast<size_t>(count - from.counts.begin())];
    }
  }
  if (sides != before) Replace(constant, constant->get_shape(), sides);
}

}  // namespace

bool Regrid(ov::Model& model, InputSize from, InputSize to, int stride) {
  const AnchorGrid was = GridOf(from, stride);
  const AnchorGrid is = GridOf(to, stride);
  for (const auto& node : model.get_ordered_ops()) {
    if (ov::is_type<ov::op::v1::Reshape>(node)) {
      const auto shape = ov::as_type_ptr<ov::op::v0::Constant>(node->get_input_node_shared_ptr(1));
      if (shape) ReplaceCounts(shape, was, is);
    }
    const auto constant = ov::as_type_ptr<ov::op::v0::Constant>(node);
    if (!constant || !constant->get_element_type().is_real()) continue;
    const ov::Shape& shape = constant->get_shape();
    if (shape.empty() || shape.back() != was.widths.size()) continue;
    if (!ReplacePlaces(constant, was, is)) return false;
  }
  // All at once: with old sides and new constants nothing fits together, and Model::reshape looks
  // before it changes anything.
  const auto image = model.get_parameters().at(0);
  ov::PartialShape sides = image->get_partial_shape();
  sides[2] = to.height;
  sides[3] = to.width;
  image->set_partial_shape(sides);
  model.validate_nodes_and_infer_types();
  return true;
}

}  // namespace lattice
