// A small network that ends as NanoDet-Plus does.
#ifndef LATTICE_TEST_LAYOUTS_NANODET_WRITER_H_
#define LATTICE_TEST_LAYOUTS_NANODET_WRITER_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "test/native/model/graph_writer.h"

namespace lattice::test {

// No multiple of 64: the last grid reaches beyond the input.
inline constexpr int kNanodetWidth = 160;
inline constexpr int kNanodetHeight = 96;
inline constexpr int kNanodetClasses = 2;
inline constexpr int kNanodetBins = 8;
inline constexpr int kNanodetColumns = kNanodetClasses + 4 * kNanodetBins;

struct NanodetEnd {
  uint64_t opset = 11;
  std::string score_op = "Sigmoid";
  std::vector<int64_t> parts = {kNanodetClasses, 4 * kNanodetBins};
  std::vector<int64_t> perm = {0, 2, 1};
};

// As NanoDet-Plus ends, with an average of the pixels of each cell before it.
inline std::string Nanodet(const NanodetEnd& end = {},
                           const std::map<std::string, std::string>& metadata = {}) {
  GraphWriter graph;
  std::vector<std::string> grids;
  unsigned seed = 0;
  graph.Initializer(RawTensor<int64_t>("flat", kInt64, {3}, {1, kNanodetColumns, -1}));
  graph.Initializer(RawTensor<int64_t>("parts", kInt64, {2}, end.parts));
  for (const int stride : {8, 16, 32, 64}) {
    const std::string at = std::to_string(stride);
    const int right = (stride - kNanodetWidth % stride) % stride;
    const int below = (stride - kNanodetHeight % stride) % stride;
    graph.Node("AveragePool", {"data"}, {"cells" + at},
               Integers("kernel_shape", {stride, stride}) + Integers("strides", {stride, stride}) +
                   Integers("pads", {0, 0, below, right}));
    graph.Initializer(
        Floats("w" + at, {kNanodetColumns, 3, 1, 1}, Noise(kNanodetColumns * 3, 2, ++seed)));
    graph.Node("Conv", {"cells" + at, "w" + at}, {"all" + at});
    if (end.opset < 13) {
      graph.Node("Split", {"all" + at}, {"score" + at, "side" + at},
                 Integer("axis", 1) + Integers("split", end.parts));
    } else {
      graph.Node("Split", {"all" + at, "parts"}, {"score" + at, "side" + at}, Integer("axis", 1));
    }
    graph.Node(end.score_op, {"score" + at}, {"chance" + at});
    graph.Node("Concat", {"chance" + at, "side" + at}, {"both" + at}, Integer("axis", 1));
    graph.Node("Reshape", {"both" + at, "flat"}, {"flat" + at});
    grids.push_back("flat" + at);
  }
  graph.Node("Concat", grids, {"joined"}, Integer("axis", 2));
  graph.Node("Transpose", {"joined"}, {"output"}, Integers("perm", end.perm));
  return graph.Model(TensorPort("data", kFloat, {1, 3, kNanodetHeight, kNanodetWidth}),
                     TensorPort("output", kFloat, {-1, -1, -1}), metadata, end.opset);
}

}  // namespace lattice::test

#endif  // LATTICE_TEST_LAYOUTS_NANODET_WRITER_H_
