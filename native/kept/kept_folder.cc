#include "native/kept/kept_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <thread>

#include "native/kept/kept_file.h"

namespace lattice {
namespace {

// flock has no deadline of its own.
constexpr std::chrono::milliseconds kLockPause{100};

std::string Words(int error) { return std::generic_category().message(error); }

Status Refused(const std::string& subject, const std::string& fact) {
  return {StatusCode::kInternalError, subject + " " + fact};
}

// False where the file ends before the span is full, or cannot be read.
bool ReadAll(int fd, std::span<char> out) {
  while (!out.empty()) {
    const ssize_t got = read(fd, out.data(), out.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    out = out.subspan(static_cast<size_t>(got));
  }
  return true;
}

bool WriteAll(int fd, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return true;
}

bool IsOurs(const struct stat& info) {
  return S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Without O_NONBLOCK a FIFO would keep the open waiting for a writer.
ScopedFd OpenToRead(const std::string& path) {
  return ScopedFd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
}

// Why it is not read; empty where it is. Marks the file as used now.
std::string ReadFile(int fd, const std::string& name, std::vector<char>* bytes) {
  struct stat info;
  if (fstat(fd, &info) != 0) return "cannot be read: " + Words(errno);
  if (!S_ISREG(info.st_mode)) return "is no regular file";
  if (!IsOurs(info)) return "could have been written by another user";
  const auto size = static_cast<uint64_t>(info.st_size);
  KeptHead head;
  if (size < head.size() || !ReadAll(fd, head)) return "is cut short";
  if (const std::string fault = FaultOfHead(head, size); !fault.empty()) return fault;
  bytes->resize(size - head.size());
  if (!ReadAll(fd, *bytes)) return "cannot be read to its end";
  if (HeadOf(name, *bytes) != head) return "does not hold the bytes that were stored";
  // If the folder is only readable, the last use stays unknown.
  (void)futimens(fd, nullptr);
  return {};
}

// Calls for one path must not overlap, in any process: they share PATH.partial.
Status WriteFile(const std::string& path, std::span<const char> head, std::span<const char> bytes) {
  const std::string partial = path + ".partial";
  (void)unlink(partial.c_str());  // of a build that was killed
  (void)rmdir(path.c_str());      // an empty folder in its place, which no file can replace
  ScopedFd fd(open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  // Some file systems report a full disk only when the file is closed.
  if (fd.get() >= 0 && WriteAll(fd.get(), head) && WriteAll(fd.get(), bytes) &&
      fsync(fd.get()) == 0 && close(fd.Release()) == 0 &&
      std::rename(partial.c_str(), path.c_str()) == 0) {
    return {};
  }
  const std::string reason = Words(errno);
  (void)unlink(partial.c_str());
  return Refused(std::filesystem::path(path).filename(), "cannot be stored: " + reason + ".");
}

}  // namespace

Result<KeptFolder> KeptFolder::Open(const std::string& folder) {
  const std::filesystem::path path(folder);
  const std::string name = (path.has_filename() ? path : path.parent_path()).filename();
  const std::string subject = "The engine folder '" + name + "'";
  struct stat info;
  if ((mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) || stat(folder.c_str(), &info) != 0) {
    return Refused(subject, "cannot be made: " + Words(errno) + ".");
  }
  if (!S_ISDIR(info.st_mode)) {
    return Refused(subject, "is no folder. Remove it, or choose another folder.");
  }
  if (info.st_uid != geteuid()) {
    return Refused(subject, "belongs to another user. Choose a folder that the service owns.");
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Refused(
        subject,
        "is writable for other users, who could replace an engine. Run: chmod go-w " + name);
  }
  return KeptFolder(folder);
}

std::optional<std::vector<char>> KeptFolder::Load(const std::string& name,
                                                  std::string* fault) const {
  const ScopedFd fd = OpenToRead(PathOf(name));
  std::vector<char> bytes;
  std::string found;
  if (fd.get() < 0) {
    if (errno != ENOENT) found = "cannot be opened: " + Words(errno);
  } else {
    found = ReadFile(fd.get(), name, &bytes);
    if (found.empty()) return bytes;
  }
  if (fault != nullptr && !found.empty()) *fault = name + " " + found + ".";
  return std::nullopt;
}

Status KeptFolder::Store(const std::string& name, std::span<const char> bytes) const {
  return WriteFile(PathOf(name), HeadOf(name, bytes), bytes);
}

ScopedFd KeptFolder::Hold(const std::string& name) const {
  ScopedFd fd = OpenToRead(PathOf(name));
  if (fd.get() >= 0) (void)flock(fd.get(), LOCK_SH | LOCK_NB);
  return fd;
}

void KeptFolder::KeepWithin(const std::string& suffix, uint64_t most_bytes) const {
  namespace fs = std::filesystem;
  struct File {
    fs::file_time_type used;
    uint64_t bytes;
    fs::path path;
  };
  std::error_code ignored;
  std::vector<File> files;
  std::vector<fs::path> all;
  uint64_t total = 0;
  for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
    all.push_back(entry.path());
    if (!entry.path().native().ends_with(suffix) || !entry.is_regular_file(ignored)) continue;
    files.push_back({entry.last_write_time(ignored), entry.file_size(ignored), entry.path()});
    total += files.back().bytes;
  }
  std::sort(files.begin(), files.end(),
            [](const File& one, const File& other) { return one.used < other.used; });
  for (const File& file : files) {
    if (total <= most_bytes) return;
    const ScopedFd fd = OpenToRead(file.path);
    if (fd.get() >= 0 && flock(fd.get(), LOCK_EX | LOCK_NB) != 0) continue;
    if (!fs::remove(file.path, ignored)) continue;
    total -= file.bytes;
    const std::string beside = file.path.native() + ".";
    for (const fs::path& path : all) {
      if (path.native().starts_with(beside)) fs::remove(path, ignored);
    }
  }
}

Result<ScopedFd> KeptFolder::Lock(const std::string& name, Clock::time_point deadline,
                                  const std::function<bool()>& go_on) const {
  const std::string file = name + ".lock";
  constexpr int kFlags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  ScopedFd fd(open(PathOf(file).c_str(), kFlags, 0600));
  if (fd.get() < 0) return Refused(file, "cannot be locked: " + Words(errno) + ".");
  while (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return Refused(file, "cannot be locked: " + Words(errno) + ".");
    }
    const auto now = Clock::now();
    if (now >= deadline) {
      return Status(StatusCode::kDeadlineExceeded, file + " is still held by another process.");
    }
    if (go_on && !go_on()) {
      return Status(StatusCode::kCancelled, "The wait for " + file + " was cancelled.");
    }
    std::this_thread::sleep_for(std::min<Clock::duration>(kLockPause, deadline - now));
  }
  return fd;
}

}  // namespace lattice
