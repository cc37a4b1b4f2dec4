// The class names in the metadata of a model.
#ifndef LATTICE_MODEL_CLASS_NAMES_H_
#define LATTICE_MODEL_CLASS_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

#include "native/base/status.h"

namespace lattice {

// Names by class id, 1 to 10,000, from any of the forms that exporters write:
//
//   {0: 'car', 1: "bus"}     of Python; also with the ids in quotes, as JSON has them
//   ['car', 'bus']           of Python or JSON; also in parentheses
//   0: car                   of YAML, a class per line; also `- car`, and with the name in quotes
//
// The ids must be 0 to n-1, each once, in any order. The one rule of names, told to users in
// models/README.md: a run of white space and control characters, line breaks among them, is one
// space, and none stands at the ends; what is left has 1 to 128 characters of any kind, the comma
// among them. Fails with kInvalidModel for other text, and for a name that breaks the rule.
Result<std::vector<std::string>> ParseClassNames(std::string_view text);

}  // namespace lattice

#endif  // LATTICE_MODEL_CLASS_NAMES_H_
