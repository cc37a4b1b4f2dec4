#include "native/gpu_onnx/op_typing.h"

#include <algorithm>
#include <limits>

namespace lattice {
namespace {

constexpr int kNever = std::numeric_limits<int>::max();

// Sorted by name, for the binary search.
constexpr OpTyping kTypings[] = {
    {"Abs", "T", "T"},
    {"Add", "T", "T"},
    {"And", "A", "B"},
    {"ArgMax", "A", "I"},
    {"ArgMin", "A", "I"},
    {"AveragePool", "T", "T"},
    {"BatchNormalization", "T", "T"},
    {"Cast", "A", "C"},
    {"Ceil", "T", "T"},
    {"Clip", "T", "T"},
    {"Concat", "T", "T"},
    {"Constant", "", "V"},
    {"ConstantOfShape", "A", "V"},
    {"Conv", "T", "T"},
    {"ConvTranspose", "T", "T"},
    {"Cos", "T", "T"},
    {"CumSum", "TA", "T", 14},
    {"DepthToSpace", "T", "T"},
    {"DequantizeLinear", "ATA", "T", 19},
    {"Div", "T", "T"},
    {"Dropout", "TAA", "TB"},
    {"Einsum", "T", "T"},
    {"Elu", "T", "T"},
    {"Equal", "T", "B"},
    {"Erf", "T", "T"},
    {"Exp", "T", "T"},
    {"Expand", "TA", "T"},
    {"Flatten", "T", "T"},
    {"Floor", "T", "T"},
    {"Gather", "TA", "T"},
    {"GatherElements", "TA", "T"},
    {"GatherND", "TA", "T"},
    {"Gelu", "T", "T"},
    {"Gemm", "T", "T"},
    {"GlobalAveragePool", "T", "T"},
    {"GlobalMaxPool", "T", "T"},
    {"Greater", "T", "B"},
    {"GreaterOrEqual", "T", "B"},
    {"GroupNormalization", "T", "T", 0, false},
    {"HardSigmoid", "T", "T"},
    {"HardSwish", "T", "T"},
    {"Identity", "T", "T"},
    {"InstanceNormalization", "T", "T"},
    {"LayerNormalization", "T", "T"},
    {"LeakyRelu", "T", "T"},
    {"Less", "T", "B"},
    {"LessOrEqual", "T", "B"},
    {"Log", "T", "T"},
    {"LogSoftmax", "T", "T"},
    {"MatMul", "T", "T"},
    {"Max", "T", "T"},
    {"MaxPool", "T", "TI"},
    {"Mean", "T", "T"},
    {"Min", "T", "T"},
    {"Mish", "T", "T"},
    {"Mod", "T", "T"},
    {"Mul", "T", "T"},
    {"Neg", "T", "T"},
    {"NonMaxSuppression", "FFAFF", "I"},
    {"NonZero", "A", "I"},
    {"Not", "A", "B"},
    {"Or", "A", "B"},
    {"PRelu", "T", "T"},
    {"Pad", "TATA", "T"},
    {"Pow", "T", "T"},
    {"QuantizeLinear", "TTA", "Q", 19},
    {"Range", "T", "T", kNever},
    {"Reciprocal", "T", "T"},
    {"ReduceL1", "TA", "T", 0, false},
    {"ReduceL2", "TA", "T", 0, false},
    {"ReduceLogSumExp", "TA", "T", 0, false},
    {"ReduceMax", "TA", "T", 0, false},
    {"ReduceMean", "TA", "T", 0, false},
    {"ReduceMin", "TA", "T", 0, false},
    {"ReduceProd", "TA", "T", 0, false},
    {"ReduceSum", "TA", "T"},
    {"ReduceSumSquare", "TA", "T", 0, false},
    {"Relu", "T", "T"},
    {"Reshape", "TA", "T"},
    {"Resize", "TFFA", "T"},
    {"Round", "T", "T"},
    {"ScatterElements", "TAT", "T"},
    {"ScatterND", "TAT", "T"},
    {"Selu", "T", "T"},
    {"Shape", "A", "I"},
    {"Sigmoid", "T", "T"},
    {"Sign", "T", "T"},
    {"Sin", "T", "T"},
    {"Size", "A", "I"},
    {"Slice", "TA", "T"},
    {"Softmax", "T", "T"},
    {"Softplus", "T", "T"},
    {"Softsign", "T", "T"},
    {"SpaceToDepth", "T", "T"},
    {"Split", "TA", "T", 0, false},
    {"Sqrt", "T", "T"},
    {"Squeeze", "TA", "T"},
    {"Sub", "T", "T"},
    {"Sum", "T", "T"},
    {"Tanh", "T", "T"},
    {"Tile", "TA", "T"},
    {"TopK", "TA", "TI"},
    {"Transpose", "T", "T"},
    {"Trilu", "TA", "T"},
    {"Unsqueeze", "TA", "T"},
    {"Where", "AT", "T"},
    {"Xor", "A", "B"},
};

constexpr bool ByName(const OpTyping& a, const OpTyping& b) { return a.op < b.op; }
static_assert(std::is_sorted(std::begin(kTypings), std::end(kTypings), ByName));

}  // namespace

const OpTyping* FindOpTyping(std::string_view op) {
  const auto* found =
      std::lower_bound(std::begin(kTypings), std::end(kTypings), op,
                       [](const OpTyping& a, std::string_view b) { return a.op < b; });
  return found != std::end(kTypings) && found->op == op ? found : nullptr;
}

}  // namespace lattice
