// A small network that ends as YOLOX does.
#ifndef LATTICE_TEST_LAYOUTS_YOLOX_WRITER_H_
#define LATTICE_TEST_LAYOUTS_YOLOX_WRITER_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "test/native/model/graph_writer.h"

namespace lattice::test {

inline constexpr int kYoloxWidth = 96;
inline constexpr int kYoloxHeight = 64;
inline constexpr int kYoloxClasses = 2;
inline constexpr size_t kYoloxCells = 12 * 8 + 6 * 4 + 3 * 2;

struct YoloxEnd {
  std::string score_op = "Sigmoid";
  int64_t scales_axis = 2;
  std::vector<int64_t> perm = {0, 2, 1};
};

// As YOLOX ends, with an average of the pixels of each cell before it.
inline std::string Yolox(const YoloxEnd& end = {},
                         const std::map<std::string, std::string>& metadata = {}) {
  GraphWriter graph;
  std::vector<std::string> scales;
  unsigned seed = 0;
  graph.Initializer(RawTensor<int64_t>("flat", kInt64, {3}, {1, 5 + kYoloxClasses, -1}));
  for (const int stride : {8, 16, 32}) {
    const std::string at = std::to_string(stride);
    graph.Node("AveragePool", {"images"}, {"cells" + at},
               Integers("kernel_shape", {stride, stride}) + Integers("strides", {stride, stride}));
    const auto convolution = [&](const std::string& name, int outputs) {
      graph.Initializer(Floats(name + ".w", {outputs, 3, 1, 1}, Noise(outputs * 3, 0.01f, ++seed)));
      graph.Node("Conv", {"cells" + at, name + ".w"}, {name});
    };
    convolution("box" + at, 4);
    convolution("object" + at, 1);
    convolution("class" + at, kYoloxClasses);
    graph.Node(end.score_op, {"object" + at}, {"object_score" + at});
    graph.Node(end.score_op, {"class" + at}, {"class_score" + at});
    graph.Node("Concat", {"box" + at, "object_score" + at, "class_score" + at}, {"all" + at},
               Integer("axis", 1));
    graph.Node("Reshape", {"all" + at, "flat"}, {"flat" + at});
    scales.push_back("flat" + at);
  }
  graph.Node("Concat", scales, {"joined"}, Integer("axis", end.scales_axis));
  graph.Node("Transpose", {"joined"}, {"output"}, Integers("perm", end.perm));
  return graph.Model(TensorPort("images", kFloat, {1, 3, kYoloxHeight, kYoloxWidth}),
                     TensorPort("output", kFloat, {1, kYoloxCells, 5 + kYoloxClasses}), metadata,
                     11);
}

}  // namespace lattice::test

#endif  // LATTICE_TEST_LAYOUTS_YOLOX_WRITER_H_
