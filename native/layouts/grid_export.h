// The common form of the raw exports of YOLOX and NanoDet: one output, in which the numbers of the
// cells of several grids follow each other.
#ifndef LATTICE_LAYOUTS_GRID_EXPORT_H_
#define LATTICE_LAYOUTS_GRID_EXPORT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "native/model/graph_tensors.h"
#include "native/model/onnx_graph.h"

namespace lattice {

// The node that joins `grids` tensors of [batch, numbers, cells] and whose transpose is the only
// output; null when the graph ends in another way.
const OnnxNode* JoinedGrids(const OnnxGraph& graph, const GraphTensors& tensors, size_t grids);

// Whether the node joins `tensors` tensors along this axis. Returns false for a null node.
bool Joins(const OnnxNode* node, size_t tensors, int64_t axis);

// The channels of the tensor when a convolution with float32 weights makes it; 0 for every other
// tensor.
int64_t ChannelsOf(const GraphTensors& tensors, const std::string& tensor);

// The input of the picture when it is the only input; else null.
const OnnxValueInfo* OnlyPicture(const OnnxGraph& graph, const GraphTensors& tensors);

// The cells of all grids, finest first.
struct Cells {
  std::vector<float> places;   // [1, 2, cells]: left and top in pixels
  std::vector<float> strides;  // [1, 1, cells]

  int64_t count() const { return static_cast<int64_t>(strides.size()); }
};

Cells CellsAt(std::span<const int> strides, int width, int height);

}  // namespace lattice

#endif  // LATTICE_LAYOUTS_GRID_EXPORT_H_
