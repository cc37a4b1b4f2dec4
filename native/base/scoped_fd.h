// Owner of a file descriptor.
#ifndef LATTICE_BASE_SCOPED_FD_H_
#define LATTICE_BASE_SCOPED_FD_H_

#include <unistd.h>

#include <utility>

namespace lattice {

// Closes the descriptor when destroyed; -1 means none.
class ScopedFd {
 public:
  explicit ScopedFd(int fd = -1) : fd_(fd) {}
  ScopedFd(ScopedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ScopedFd& operator=(ScopedFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~ScopedFd() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  // The caller owns it from here on.
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

}  // namespace lattice

#endif  // LATTICE_BASE_SCOPED_FD_H_
