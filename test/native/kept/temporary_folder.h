// A folder of its own for a test.
#ifndef LATTICE_TEST_KEPT_TEMPORARY_FOLDER_H_
#define LATTICE_TEST_KEPT_TEMPORARY_FOLDER_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

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

}  // namespace lattice

#endif  // LATTICE_TEST_KEPT_TEMPORARY_FOLDER_H_
