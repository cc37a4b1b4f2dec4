// A model's bytes.
#ifndef LATTICE_MODEL_MODEL_FILE_H_
#define LATTICE_MODEL_MODEL_FILE_H_

#include <string>

#include "native/base/status.h"

namespace lattice {

// The whole file, with the weights that lie in files beside it (weight_files.h). kUnknownModel when
// there is none, kInvalidModel when it is no regular file, over 2 GiB (protobuf's own limit), a Git
// LFS pointer or cannot be read, and as WithWeightsInside.
Result<std::string> ReadModelFile(const std::string& path);

}  // namespace lattice

#endif  // LATTICE_MODEL_MODEL_FILE_H_
