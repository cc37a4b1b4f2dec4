#include "native/gpu_onnx/op_typing.h"

#include <gtest/gtest.h>

namespace lattice {
namespace {

TEST(OpTypingTest, KnowsWhatDetectorsAreMadeOf) {
  for (const char* op : {"Conv",   "Sigmoid", "Mul",       "Add",     "Concat", "Split",  "MaxPool",
                         "Resize", "Reshape", "Transpose", "Softmax", "Shape",  "Gather", "Slice",
                         "Sub",    "Div",     "MatMul",    "Range",   "Abs",    "Xor"}) {
    ASSERT_NE(FindOpTyping(op), nullptr) << op;
    EXPECT_EQ(FindOpTyping(op)->op, op);
  }
  for (const char* op : {"", "conv", "Zz", "Con", "DynamicQuantizeLinear", "If", "Loop"}) {
    EXPECT_EQ(FindOpTyping(op), nullptr) << op;
  }
}

TEST(OpTypingTest, TheLastPortStandsForAllThatFollow) {
  const OpTyping* concat = FindOpTyping("Concat");
  EXPECT_EQ(concat->input(100), Port::kData);
  const OpTyping* resize = FindOpTyping("Resize");
  EXPECT_EQ(resize->input(0), Port::kData);
  EXPECT_EQ(resize->input(1), Port::kFloat);
  EXPECT_EQ(resize->input(2), Port::kFloat);
  EXPECT_EQ(resize->input(3), Port::kAny);
  EXPECT_EQ(FindOpTyping("TopK")->output(1), Port::kInt64);
  EXPECT_EQ(FindOpTyping("Constant")->input(0), Port::kAny);
}

}  // namespace
}  // namespace lattice
