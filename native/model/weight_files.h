// The weights of an ONNX model that lie in files beside it.
#ifndef LATTICE_MODEL_WEIGHT_FILES_H_
#define LATTICE_MODEL_WEIGHT_FILES_H_

#include <cstddef>
#include <string>

#include "native/base/status.h"

namespace lattice {

// The model with these weights inside, so that it needs no other file; a model that has all of them
// is returned as it is, and so is one that is damaged, which its reader refuses. `folder`: where
// the model lies. kInvalidModel where a file is not there, is shorter than the model says, or lies
// outside the folder by its name, and where the whole is over `most` bytes; the message names the
// file.
Result<std::string> WithWeightsInside(std::string model, const std::string& folder, size_t most);

}  // namespace lattice

#endif  // LATTICE_MODEL_WEIGHT_FILES_H_
