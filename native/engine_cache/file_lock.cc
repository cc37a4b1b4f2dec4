#include "native/engine_cache/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

namespace lattice {
namespace {

using namespace std::chrono_literals;

// flock has no deadline of its own. What is waited for takes minutes.
constexpr Clock::duration kFirstPause = 1ms;
constexpr Clock::duration kLongestPause = 100ms;

Status Refused(const std::string& name, const std::string& reason) {
  return {StatusCode::kInternalError, name + " cannot be locked: " + reason + "."};
}

Status Refused(const std::string& name, int error) {
  return Refused(name, std::generic_category().message(error));
}

// Whoever removes a lock file holds it; who waited for it meanwhile locks a file without a name.
bool HasName(const struct stat& locked, int folder_fd, const std::string& name) {
  struct stat named;
  return fstatat(folder_fd, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         named.st_dev == locked.st_dev && named.st_ino == locked.st_ino;
}

}  // namespace

Result<FileLock> FileLock::Acquire(int folder_fd, const std::string& name,
                                   Clock::time_point deadline, const std::function<bool()>& go_on) {
  Clock::duration pause = kFirstPause;
  ScopedFd fd;
  while (true) {
    if (fd.get() < 0) {
      constexpr int kFlags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
      fd = ScopedFd(openat(folder_fd, name.c_str(), kFlags, 0600));
      if (fd.get() < 0) return Refused(name, errno);
    }
    struct stat info;
    if (fstat(fd.get(), &info) != 0) return Refused(name, errno);
    if (!S_ISREG(info.st_mode)) return Refused(name, "it is not a plain file");
    if (flock(fd.get(), LOCK_EX | LOCK_NB) == 0) {
      if (HasName(info, folder_fd, name)) return FileLock(std::move(fd), name);
      fd = ScopedFd();
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return Refused(name, errno);
    const auto now = Clock::now();
    if (now >= deadline) {
      return Status(StatusCode::kDeadlineExceeded, name + " is still held by somebody else.");
    }
    if (go_on && !go_on()) {
      return Status(StatusCode::kCancelled, "The wait for " + name + " was given up.");
    }
    std::this_thread::sleep_for(std::min(pause, deadline - now));
    pause = std::min(2 * pause, kLongestPause);
  }
}

}  // namespace lattice
