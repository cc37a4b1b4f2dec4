// A model's bytes.
#ifndef LATTICE_MODEL_MODEL_FILE_H_
#define LATTICE_MODEL_MODEL_FILE_H_

#include <string>

#include "native/base/status.h"

namespace lattice {

// The whole file. kUnknownModel when there is none, kInvalidModel when it is no regular file, over
// 2 GiB (protobuf's own limit) or cannot be read.
Result<std::string> ReadModelFile(const std::string& path);

}  // namespace lattice

#endif  // LATTICE_MODEL_MODEL_FILE_H_
