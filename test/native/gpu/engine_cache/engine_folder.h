// A folder of its own for a test, and the key of an engine.
#ifndef LATTICE_TEST_GPU_ENGINE_CACHE_ENGINE_FOLDER_H_
#define LATTICE_TEST_GPU_ENGINE_CACHE_ENGINE_FOLDER_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "native/gpu/engine_cache/engine_key.h"

namespace lattice {

// Removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_(testing::TempDir() + "engines-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline std::string ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// As others write: with the modes that the umask leaves, and in place.
inline void WriteWhole(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  std::filesystem::permissions(path, std::filesystem::perms(0600));
}

inline EngineKey SampleKey() {
  return {.model_name = "vehicles-v8n.onnx",
          .model_sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
          .tensorrt_version = "10.15.1.29",
          .gpu_name = "NVIDIA H100 80GB HBM3",
          .sm_major = 9,
          .sm_minor = 0,
          .precision = "fp16",
          .buckets = {1, 2, 4, 8, 16, 32},
          .input_width = 640,
          .input_height = 640,
          .builder_level = 5,
          .conversion_version = 1};
}

}  // namespace lattice

#endif  // LATTICE_TEST_GPU_ENGINE_CACHE_ENGINE_FOLDER_H_
