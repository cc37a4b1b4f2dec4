#include "native/engine_cache/engine_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>

#include "native/engine_cache/checked_file.h"

namespace lattice {
namespace {

constexpr std::string_view kEngineMagic = "LATENGIN";
constexpr std::string_view kTimingMagic = "LATTIMNG";
// The lock of a timing cache is held only while the file is written.
constexpr std::chrono::seconds kTimingLockWait{10};
// flock has no deadline of its own.
constexpr std::chrono::milliseconds kLockPause{100};

std::string Words(int error) { return std::generic_category().message(error); }

Status Refused(const std::string& subject, const std::string& fact) {
  return {StatusCode::kInternalError, subject + " " + fact};
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

std::optional<std::vector<char>> EngineCache::Load(const EngineKey& key) const {
  auto file = ReadCheckedFile(PathOf(EngineStem(key) + ".engine"), kEngineMagic);
  // Two keys may share a stem.
  if (!file || !file->text.starts_with(KeyText(key) + ",")) return std::nullopt;
  return std::move(file->payload);
}

Status EngineCache::Store(const EngineHeader& header, std::span<const char> plan) const {
  return WriteCheckedFile(PathOf(EngineStem(header.key) + ".engine"), kEngineMagic,
                          HeaderText(header), plan);
}

Result<ScopedFd> EngineCache::Lock(const EngineKey& key, Clock::time_point deadline,
                                   const std::function<bool()>& go_on) const {
  return LockFile(EngineStem(key) + ".lock", deadline, go_on);
}

std::vector<char> EngineCache::LoadTimings(const EngineKey& key) const {
  auto file = ReadCheckedFile(PathOf(TimingStem(key) + ".cache"), kTimingMagic);
  if (!file || file->text != TimingText(key)) return {};
  return std::move(file->payload);
}

Status EngineCache::StoreTimings(const EngineKey& key, std::span<const char> bytes) const {
  const auto lock = LockFile(TimingStem(key) + ".lock", Clock::now() + kTimingLockWait, nullptr);
  if (!lock.ok()) return lock.status();
  return WriteCheckedFile(PathOf(TimingStem(key) + ".cache"), kTimingMagic, TimingText(key), bytes);
}

Result<ScopedFd> EngineCache::LockFile(const std::string& name, Clock::time_point deadline,
                                       const std::function<bool()>& go_on) const {
  constexpr int kFlags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  ScopedFd fd(open(PathOf(name).c_str(), kFlags, 0600));
  if (fd.get() < 0) return Refused(name, "cannot be locked: " + Words(errno) + ".");
  while (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return Refused(name, "cannot be locked: " + Words(errno) + ".");
    }
    const auto now = Clock::now();
    if (now >= deadline) {
      return Status(StatusCode::kDeadlineExceeded, name + " is still held by another process.");
    }
    if (go_on && !go_on()) {
      return Status(StatusCode::kCancelled, "The wait for " + name + " was cancelled.");
    }
    std::this_thread::sleep_for(std::min<Clock::duration>(kLockPause, deadline - now));
  }
  return fd;
}

}  // namespace lattice
