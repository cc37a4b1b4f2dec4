// The order of a graph's nodes.
#ifndef LATTICE_GPU_ONNX_NODE_ORDER_H_
#define LATTICE_GPU_ONNX_NODE_ORDER_H_

#include "native/model/onnx_graph.h"

namespace lattice {

// Puts each node behind those that make what it reads, and keeps the order otherwise: some
// converters to half precision append the input's Cast at the end. Nodes of a circle keep their
// places.
void SortNodes(OnnxGraph& graph);

}  // namespace lattice

#endif  // LATTICE_GPU_ONNX_NODE_ORDER_H_
