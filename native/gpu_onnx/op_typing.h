// The element types of the inputs and outputs of ONNX operators.
#ifndef LATTICE_GPU_ONNX_OP_TYPING_H_
#define LATTICE_GPU_ONNX_OP_TYPING_H_

#include <cstddef>
#include <string_view>

namespace lattice {

enum class Port : char {
  kData = 'T',       // of the operator's own type: floats here may be of either precision
  kFloat = 'F',      // FLOAT by the standard
  kAny = 'A',        // any type
  kInt64 = 'I',      // outputs only: INT64
  kBool = 'B',       // outputs only: BOOL
  kTarget = 'C',     // outputs only: the type that the attribute `to` names
  kValue = 'V',      // outputs only: the type of the attribute `value`, FLOAT without one
  kQuantized = 'Q',  // outputs only: the type of the third input
};

struct OpTyping {
  std::string_view op;
  std::string_view inputs;   // a Port each; the last one applies to all that follow
  std::string_view outputs;  // likewise
  int half_since = 0;        // the first opset in which it takes FLOAT16
  bool same_to_19 = true;    // means the same in the opsets 13 to 19

  Port input(size_t index) const { return At(inputs, index); }
  Port output(size_t index) const { return At(outputs, index); }

 private:
  static Port At(std::string_view ports, size_t index) {
    return ports.empty() ? Port::kAny
                         : Port{ports[index < ports.size() ? index : ports.size() - 1]};
  }
};

// nullptr for an operator whose types are not known here.
const OpTyping* FindOpTyping(std::string_view op);

}  // namespace lattice

#endif  // LATTICE_GPU_ONNX_OP_TYPING_H_
