#include "native/model/model_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "native/base/sha256.h"
#include "native/model/git_lfs_pointer.h"
#include "native/model/model_description.h"
#include "native/model/onnx_metadata.h"
#include "native/model/protobuf_wire.h"
#include "native/model/weight_files.h"

namespace lattice {
namespace {

constexpr off_t kMaxModelBytes = off_t{2} << 30;

}  // namespace

Result<std::string> ReadModelFile(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    return Status(StatusCode::kUnknownModel, "There is no such model file.");
  }
  if (!S_ISREG(info.st_mode)) {
    return Status(StatusCode::kInvalidModel, "The model path is not a regular file.");
  }
  if (info.st_size > kMaxModelBytes) {
    return Status(StatusCode::kInvalidModel, "The model file is over 2 GiB.");
  }
  std::ifstream file(path, std::ios::binary);
  if (IsGitLfsPointer(file)) {
    return Status(StatusCode::kInvalidModel, std::string("The file is ") + kGitLfsPointer);
  }
  std::string bytes(static_cast<size_t>(info.st_size), '\0');
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
    return Status(StatusCode::kInvalidModel, "The model file cannot be read.");
  }
  return WithWeightsInside(std::move(bytes), std::filesystem::path(path).parent_path().string(),
                           size_t{kMaxModelBytes});
}

Result<DescribedModel> ReadDescribedModel(const std::string& path) {
  auto bytes = ReadModelFile(path);
  if (!bytes.ok()) return bytes.status();
  auto metadata = ReadOnnxMetadata(BytesOf(*bytes));
  if (!metadata.ok()) return metadata.status();
  auto info = DescribeMetadata(*std::move(metadata));
  if (!info.ok()) return info.status();
  info->sha256 = Sha256(*bytes);
  return DescribedModel{*std::move(bytes), *std::move(info)};
}

}  // namespace lattice
