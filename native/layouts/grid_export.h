// The raw exports of YOLOX and NanoDet have in common: one output, in which the numbers of the
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

// The node that joins so many grids of [batch, numbers, cells], whose transpose is the only output;
// null for another end.
const OnnxNode* JoinedGrids(const OnnxGraph& graph, const GraphTensors& tensors, size_t grids);

// Whether it joins so many tensors along this axis. Null is none.
bool Joins(const OnnxNode* node, size_t tensors, int64_t axis);

// Channels that a convolution with weights of float32 makes; 0 for another tensor.
int64_t ChannelsOf(const GraphTensors& tensors, const std::string& tensor);

// The picture, where it is the only input; else null.
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
