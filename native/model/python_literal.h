// Parses the Python literals that exporters write into model metadata.
#ifndef LATTICE_MODEL_PYTHON_LITERAL_H_
#define LATTICE_MODEL_PYTHON_LITERAL_H_

#include <string>
#include <string_view>
#include <vector>

#include "native/base/status.h"

namespace lattice {

// `{0: 'person', 1: "traffic light"}` -> names by class id. The keys must be 0 to n-1, each once,
// in any order; 1 <= n <= 10,000. The escapes are \\ \' \" \n \t \xHH \uHHHH. Fails with
// kInvalidModel, which names the fault and its byte.
Result<std::vector<std::string>> ParseClassNames(std::string_view text);

// `[640, 480]`, `(640, 480)` or `640`: up to 8 integers of up to 9 digits. Other text fails with
// kInvalidModel.
Result<std::vector<int>> ParseIntegers(std::string_view text);

}  // namespace lattice

#endif  // LATTICE_MODEL_PYTHON_LITERAL_H_
