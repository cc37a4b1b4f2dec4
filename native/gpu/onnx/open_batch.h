// Networks whose file fixes the batch, made to run any batch.
#ifndef LATTICE_GPU_ONNX_OPEN_BATCH_H_
#define LATTICE_GPU_ONNX_OPEN_BATCH_H_

#include <string>

#include "native/model/onnx_graph.h"

namespace lattice {

// Opens the batch of the graph's only input, where every node from it to the outputs computes each
// image of a batch apart: convolutions, poolings, pointwise operators, the same
// places or sums of each image, and those of attention whose first axis stays the batch. The nodes
// are in order (node_order.h). Returns "", or a sentence that names the node which holds the batch;
// then nothing is changed. A node that no rule knows holds it.
std::string OpenBatch(OnnxModel* model);

}  // namespace lattice

#endif  // LATTICE_GPU_ONNX_OPEN_BATCH_H_
