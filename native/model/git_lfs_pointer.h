// The small text that Git leaves in place of a large file that was not fetched.
#ifndef LATTICE_MODEL_GIT_LFS_POINTER_H_
#define LATTICE_MODEL_GIT_LFS_POINTER_H_

#include <istream>
#include <string>
#include <string_view>

namespace lattice {

// The end of sentences about such a file.
inline constexpr const char* kGitLfsPointer =
    "a Git LFS pointer and not the file itself: `git lfs pull` fetches it.";

// Leaves the stream at its start.
inline bool IsGitLfsPointer(std::istream& file) {
  constexpr std::string_view kStart = "version https://git-lfs.github.com/spec/";
  std::string start(kStart.size(), '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  file.clear();
  file.seekg(0);
  return start == kStart;
}

}  // namespace lattice

#endif  // LATTICE_MODEL_GIT_LFS_POINTER_H_
