#include "native/model/box_choice.h"

#include <gtest/gtest.h>

#include "native/model/onnx_reader.h"
#include "test/native/model/graph_writer.h"

namespace lattice {
namespace {

bool Chooses(const test::GraphWriter& graph) {
  const std::string file = graph.Model();
  return ChoosesBoxes(ReadOnnxModel(BytesOf(file))->graph);
}

TEST(ChoosesBoxesTest, FindsTheOperators) {
  EXPECT_TRUE(Chooses(test::GraphWriter().Node("TopK", {"a", "k"}, {"best", "places"})));
  EXPECT_TRUE(Chooses(test::GraphWriter().Node("NonMaxSuppression", {"a", "b"}, {"places"})));
  EXPECT_FALSE(Chooses(test::GraphWriter().Node("Sigmoid", {"a"}, {"b"})));
}

TEST(ChoosesBoxesTest, LooksIntoGraphsOfNodes) {
  const auto holding = [](const std::string& op) {
    using test::Bytes;
    const std::string graph = Bytes(1, Bytes(1, "a") + Bytes(2, "b") + Bytes(4, op));
    const std::string branch = Bytes(5, Bytes(1, "then_branch") + Bytes(6, graph));
    return test::GraphWriter().Node("If", {"found"}, {"rows"}, branch);
  };
  EXPECT_TRUE(Chooses(holding("TopK")));
  EXPECT_FALSE(Chooses(holding("Identity")));
}

}  // namespace
}  // namespace lattice
