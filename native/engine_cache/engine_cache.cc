#include "native/engine_cache/engine_cache.h"

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

// Marks the file as used now.
std::optional<std::vector<char>> ReadFile(const std::string& path) {
  // Without O_NONBLOCK a FIFO would keep the open waiting for a writer.
  const ScopedFd fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info;
  if (fd.get() < 0 || fstat(fd.get(), &info) != 0 || !IsOurs(info)) return std::nullopt;
  std::vector<char> bytes(static_cast<size_t>(info.st_size));
  if (!ReadAll(fd.get(), bytes)) return std::nullopt;
  // In a folder that is only readable the last use stays unknown.
  (void)futimens(fd.get(), nullptr);
  return bytes;
}

// Calls for one path must not overlap, in any process: they share PATH.partial.
Status WriteFile(const std::string& path, std::span<const char> bytes) {
  const std::string partial = path + ".partial";
  (void)unlink(partial.c_str());  // of a build that was killed
  ScopedFd fd(open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  // Some file systems report a full disk only when the file is closed.
  if (fd.get() >= 0 && WriteAll(fd.get(), bytes) && fsync(fd.get()) == 0 &&
      close(fd.Release()) == 0 && std::rename(partial.c_str(), path.c_str()) == 0) {
    return {};
  }
  const std::string reason = Words(errno);
  (void)unlink(partial.c_str());
  return Refused(std::filesystem::path(path).filename(), "cannot be stored: " + reason + ".");
}

}  // namespace

Result<EngineCache> EngineCache::Open(const std::string& folder) {
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
  return EngineCache(folder);
}

std::optional<std::vector<char>> EngineCache::Load(const std::string& name) const {
  return ReadFile(PathOf(name));
}

Status EngineCache::Store(const std::string& name, std::span<const char> bytes) const {
  return WriteFile(PathOf(name), bytes);
}

void EngineCache::KeepLatest(const std::string& suffix, size_t count) const {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
    if (!entry.path().native().ends_with(suffix)) continue;
    files.emplace_back(entry.last_write_time(ignored), entry.path());
  }
  std::sort(files.rbegin(), files.rend());
  for (size_t i = count; i < files.size(); ++i) fs::remove(files[i].second, ignored);
}

Result<ScopedFd> EngineCache::Lock(const std::string& name, Clock::time_point deadline,
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
