// A model's bytes.
#ifndef LATTICE_MODEL_MODEL_FILE_H_
#define LATTICE_MODEL_MODEL_FILE_H_

#include <string>

#include "native/base/status.h"
#include "native/model/model_info.h"

namespace lattice {

// The whole file, with the weights that lie in files beside it (weight_files.h). kUnknownModel when
// there is none, kInvalidModel when it is no regular file, over 2 GiB (protobuf's own limit), a Git
// LFS pointer or cannot be read, and as WithWeightsInside.
Result<std::string> ReadModelFile(const std::string& path);

struct DescribedModel {
  std::string bytes;
  ModelInfo info;  // what DescribeMetadata sets, and sha256
};

// The same with what its metadata say. Codes of ReadModelFile, ReadOnnxMetadata, DescribeMetadata.
Result<DescribedModel> ReadDescribedModel(const std::string& path);

}  // namespace lattice

#endif  // LATTICE_MODEL_MODEL_FILE_H_
