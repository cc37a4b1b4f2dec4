#include "native/layouts/grid_export.h"

#include <algorithm>

namespace lattice {

const OnnxNode* JoinedGrids(const OnnxGraph& graph, const GraphTensors& tensors, size_t grids) {
  if (graph.outputs.size() != 1) return nullptr;
  const OnnxNode* last = tensors.MakerOf(graph.outputs[0].name, "Transpose");
  const OnnxAttribute* order = last == nullptr ? nullptr : last->Find("perm");
  if (order == nullptr || order->integers != std::vector<int64_t>{0, 2, 1}) return nullptr;
  const OnnxNode* joined = tensors.MakerOf(last->inputs[0], "Concat");
  return Joins(joined, grids, 2) ? joined : nullptr;
}

bool Joins(const OnnxNode* node, size_t tensors, int64_t axis) {
  return node != nullptr && node->inputs.size() == tensors && node->Integer("axis", -1) == axis;
}

int64_t ChannelsOf(const GraphTensors& tensors, const std::string& tensor) {
  const OnnxNode* convolution = tensors.MakerOf(tensor, "Conv");
  if (convolution == nullptr || convolution->inputs.size() < 2) return 0;
  const OnnxTensor* weights = tensors.ConstantOf(convolution->inputs[1]);
  const bool known = weights != nullptr && weights->type == kFloat && !weights->dims.empty();
  return known ? weights->dims[0] : 0;
}

const OnnxValueInfo* OnlyPicture(const OnnxGraph& graph, const GraphTensors& tensors) {
  const OnnxValueInfo* picture = FloatInputOf(graph, tensors);
  const bool alone =
      std::all_of(graph.inputs.begin(), graph.inputs.end(), [&](const OnnxValueInfo& input) {
        return &input == picture || tensors.ConstantOf(input.name) != nullptr;
      });
  return alone ? picture : nullptr;
}

Cells CellsAt(std::span<const int> strides, int width, int height) {
  Cells cells;
  std::vector<float> tops;
  for (const int stride : strides) {
    for (int y = 0; y < height; y += stride) {
      for (int x = 0; x < width; x += stride) {
        cells.places.push_back(static_cast<float>(x));
        tops.push_back(static_cast<float>(y));
        cells.strides.push_back(static_cast<float>(stride));
      }
    }
  }
  cells.places.insert(cells.places.end(), tops.begin(), tops.end());
  return cells;
}

}  // namespace lattice
