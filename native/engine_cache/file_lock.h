// A lock between threads and processes, in the shape of a file.
#ifndef LATTICE_ENGINE_CACHE_FILE_LOCK_H_
#define LATTICE_ENGINE_CACHE_FILE_LOCK_H_

#include <functional>
#include <string>
#include <utility>

#include "native/base/scoped_fd.h"
#include "native/base/status.h"
#include "native/base/stopwatch.h"

namespace lattice {

// Held from Acquire to the end of the object or of the process, however that ends. Two locks of one
// file exclude each other within a process too.
class FileLock {
 public:
  // Blocks until `deadline`, trying at least once: kDeadlineExceeded after it. Where `go_on` is
  // given, it is asked every 100 ms or sooner, on this thread: kCancelled once it says no.
  // kInternalError when the file cannot be made in the folder or is not a plain file. The file is
  // made with mode 0600 and stays.
  static Result<FileLock> Acquire(int folder_fd, const std::string& name,
                                  Clock::time_point deadline,
                                  const std::function<bool()>& go_on = nullptr);

  FileLock(FileLock&&) noexcept = default;
  FileLock& operator=(FileLock&&) noexcept = default;

  const std::string& name() const { return name_; }

 private:
  FileLock(ScopedFd fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {}

  ScopedFd fd_;
  std::string name_;
};

}  // namespace lattice

#endif  // LATTICE_ENGINE_CACHE_FILE_LOCK_H_
