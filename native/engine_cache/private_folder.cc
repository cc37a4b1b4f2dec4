#include "native/engine_cache/private_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>

namespace lattice {
namespace {

constexpr mode_t kWritableForOthers = S_IWGRP | S_IWOTH;

std::string Words(int error) { return std::generic_category().message(error); }

Status Failed(const std::string& what, int error) {
  return {StatusCode::kInternalError, what + ": " + Words(error) + "."};
}

OpenedFile Foreign(const std::string& name, const std::string& fact) {
  OpenedFile file;
  file.state = FileState::kForeign;
  file.reason = name + " " + fact +
                ", so it is not used. Remove it from the engine folder, or choose another folder.";
  return file;
}

Status RefusedFolder(const std::string& name, const std::string& fact) {
  return {StatusCode::kInternalError, "The engine folder '" + name + "' " + fact};
}

Status CheckFolder(const std::string& name, const struct stat& info) {
  if (info.st_uid != geteuid()) {
    return RefusedFolder(name, "belongs to another user. Choose a folder of the service's own.");
  }
  if ((info.st_mode & kWritableForOthers) != 0) {
    return RefusedFolder(name,
                         "is writable for others, who could put an engine of theirs into it. "
                         "Take that away with: chmod go-w " +
                             name);
  }
  return Status();
}

// 0 or the error.
int WriteAll(int fd, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return 0;
}

int WriteNew(int folder_fd, const std::string& name, std::span<const std::span<const char>> parts) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  ScopedFd fd(openat(folder_fd, name.c_str(), kFlags, 0600));
  if (fd.get() < 0) return errno;
  for (const auto part : parts) {
    if (const int error = WriteAll(fd.get(), part); error != 0) return error;
  }
  if (fsync(fd.get()) != 0) return errno;
  // Some file systems tell at the close that there was no room.
  return close(fd.Release()) == 0 ? 0 : errno;
}

}  // namespace

Result<PrivateFolder> PrivateFolder::Open(const std::string& path) {
  const std::filesystem::path whole(path);
  const std::string name = (whole.has_filename() ? whole : whole.parent_path()).filename();
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return RefusedFolder(name, "cannot be made: " + Words(errno) + ".");
  }
  ScopedFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0 && errno == ENOTDIR) {
    return RefusedFolder(name, "is a file. Remove it, or choose another folder.");
  }
  struct stat info;
  if (fd.get() < 0 || fstat(fd.get(), &info) != 0) {
    return RefusedFolder(name, "cannot be opened: " + Words(errno) + ".");
  }
  if (const Status status = CheckFolder(name, info); !status.ok()) return status;
  return PrivateFolder(std::move(fd));
}

Result<OpenedFile> PrivateFolder::OpenFile(const std::string& name) const {
  // Without O_NONBLOCK a FIFO would keep the open waiting for a writer.
  ScopedFd fd(openat(fd_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (fd.get() < 0 && errno == ENOENT) return OpenedFile();
  if (fd.get() < 0 && errno == ELOOP) return Foreign(name, "is a symbolic link");
  if (fd.get() < 0 && (errno == EACCES || errno == EPERM || errno == ENXIO)) {
    return Foreign(name, "may not be read");
  }
  struct stat info;
  if (fd.get() < 0 || fstat(fd.get(), &info) != 0) return Failed(name + " cannot be read", errno);
  if (!S_ISREG(info.st_mode)) return Foreign(name, "is not a regular file");
  if (info.st_uid != geteuid()) return Foreign(name, "belongs to another user");
  if ((info.st_mode & kWritableForOthers) != 0) return Foreign(name, "is writable for others");
  OpenedFile file;
  file.state = FileState::kReady;
  file.fd = std::move(fd);
  file.bytes = static_cast<uint64_t>(info.st_size);
  file.last_used_s = info.st_mtim.tv_sec;
  return file;
}

Status PrivateFolder::Replace(const std::string& name,
                              std::span<const std::span<const char>> parts) const {
  const std::string partial = name + ".partial";
  unlinkat(fd_.get(), partial.c_str(), 0);
  int error = WriteNew(fd_.get(), partial, parts);
  if (error == 0 && renameat(fd_.get(), partial.c_str(), fd_.get(), name.c_str()) != 0) {
    error = errno;
  }
  if (error != 0) {
    unlinkat(fd_.get(), partial.c_str(), 0);
    return Failed(name + " cannot be stored", error);
  }
  return fsync(fd_.get()) == 0 ? Status() : Failed(name + " cannot be stored", errno);
}

Status PrivateFolder::Remove(const std::string& name) const {
  if (unlinkat(fd_.get(), name.c_str(), 0) == 0 || errno == ENOENT) return Status();
  return Failed(name + " cannot be removed", errno);
}

Status PrivateFolder::MarkUsed(const std::string& name) const {
  const struct timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
  if (utimensat(fd_.get(), name.c_str(), times, AT_SYMLINK_NOFOLLOW) == 0) return Status();
  return Failed("The last use of " + name + " cannot be noted", errno);
}

Result<std::vector<std::string>> PrivateFolder::Names() const {
  // Opened anew: a duplicate would share its position with every other reader.
  ScopedFd fd(openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0) return Failed("The engine folder cannot be read", errno);
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(fdopendir(fd.get()), closedir);
  if (folder == nullptr) return Failed("The engine folder cannot be read", errno);
  fd.Release();
  std::vector<std::string> names;
  while (const dirent* entry = readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace lattice
