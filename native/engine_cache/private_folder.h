// A folder that nobody but this user can put files into.
#ifndef LATTICE_ENGINE_CACHE_PRIVATE_FOLDER_H_
#define LATTICE_ENGINE_CACHE_PRIVATE_FOLDER_H_

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "native/base/scoped_fd.h"
#include "native/base/status.h"

namespace lattice {

// What a stored file is good for.
enum class FileState {
  kReady,
  kAbsent,
  kStale,    // sound, but written for another key or by another version: may be replaced
  kDamaged,  // cut short or changed: may be replaced
  kForeign,  // not ours, or others could have written it: never read and never replaced
};

// A file opened for reading. What it says is of the open file, whatever its name stands for since.
struct OpenedFile {
  FileState state = FileState::kAbsent;  // kReady, kAbsent or kForeign
  std::string reason;                    // a sentence or two for the user, for kForeign
  ScopedFd fd;                           // for kReady
  uint64_t bytes = 0;
  int64_t last_used_s = 0;  // Unix time
};

// Thread-safe. `name` is always the name of a file directly in the folder. The folder stays the one
// that was opened, also when it is renamed.
class PrivateFolder {
 public:
  // Made with mode 0700 when it is not there; the folder above it must exist. kInternalError, with
  // what to do, when it is no folder, another user's, or writable for others.
  static Result<PrivateFolder> Open(const std::string& path);

  // Follows no link. Foreign is what is no regular file, another user's, or writable for others.
  Result<OpenedFile> OpenFile(const std::string& name) const;

  // Whole or not at all, also when the machine stops in between; mode 0600. Calls for one name must
  // not overlap, in no process: what stands in NAME.partial is taken for a leftover and removed.
  Status Replace(const std::string& name, std::span<const std::span<const char>> parts) const;

  Status Remove(const std::string& name) const;
  // Sets the last use to now.
  Status MarkUsed(const std::string& name) const;
  // Sorted.
  Result<std::vector<std::string>> Names() const;

  int fd() const { return fd_.get(); }

 private:
  explicit PrivateFolder(ScopedFd fd) : fd_(std::move(fd)) {}

  ScopedFd fd_;
};

}  // namespace lattice

#endif  // LATTICE_ENGINE_CACHE_PRIVATE_FOLDER_H_
