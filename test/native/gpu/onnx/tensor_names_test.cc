#include "native/gpu/onnx/tensor_names.h"

#include <gtest/gtest.h>

namespace lattice {
namespace {

TEST(TensorNamesTest, GivesTheFirstFreeNumber) {
  OnnxGraph graph;
  graph.initializers.emplace_back().name = "x_3";
  TensorNames names(graph);
  EXPECT_EQ(names.Free("x"), "x");
  EXPECT_EQ(names.Free("x"), "x_2");
  EXPECT_EQ(names.Free("x"), "x_4");
  EXPECT_EQ(names.Free("x_4"), "x_4_2");
  EXPECT_EQ(names.Free("x"), "x_5");
}

// As the nodes of a file that names none of its nodes ask: trying every number each time would take
// minutes.
TEST(TensorNamesTest, TakesNoLongerForANameThatIsWantedOften) {
  TensorNames names{OnnxGraph()};
  for (int i = 2; i <= 200'000; ++i) (void)names.Free("x");
  EXPECT_EQ(names.Free("x"), "x_200000");
}

}  // namespace
}  // namespace lattice
