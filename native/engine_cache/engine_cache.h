// The folder of built engines.
#ifndef LATTICE_ENGINE_CACHE_ENGINE_CACHE_H_
#define LATTICE_ENGINE_CACHE_ENGINE_CACHE_H_

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "native/base/scoped_fd.h"
#include "native/base/status.h"
#include "native/base/stopwatch.h"

namespace lattice {

// Files of the folder: engines as the library that computes them wrote them, under names that say
// all that they depend on; NAME.lock; and NAME.partial while NAME is written. Lock files stay.
// Other processes may use the folder at the same time. Thread-safe.
//
// A file is written whole, flushed and then renamed, and the library refuses an engine whose length
// or header is wrong. Damage within one is not looked for: the self-check of a loaded model is
// there for wrong boxes.
//
// To get an engine that takes long to build: Load. Where there is none: Lock, Load again, since
// another process may have built it meanwhile, then build and Store while the lock is held.
class EngineCache {
 public:
  // Makes the folder with mode 0700 where it is absent; its parent must exist. kInternalError, with
  // what to do, when it is no folder, belongs to another user, or is writable for others.
  static Result<EngineCache> Open(const std::string& folder);

  // The file that was stored under this name, marked as used now. Empty where there is none, or
  // none that only this user could have written. Follows no link.
  std::optional<std::vector<char>> Load(const std::string& name) const;

  // Whole or not at all, in place of what was there, mode 0600. The caller holds the name's lock.
  // kInternalError when it cannot be written; what was there stays then.
  Status Store(const std::string& name, std::span<const char> bytes) const;

  // Removes the files whose names end so but for those used last. The caller
  // holds a lock that all writers of such files take.
  void KeepLatest(const std::string& suffix, size_t count) const;

  // The right to build and store this file, until the descriptor is closed or the process ends.
  // Blocks until `deadline`, at least one try: kDeadlineExceeded after it. kCancelled once
  // `go_on`, called every 100 ms on this thread while it waits, returns false. kInternalError when
  // there can be no lock file.
  Result<ScopedFd> Lock(const std::string& name, Clock::time_point deadline,
                        const std::function<bool()>& go_on = nullptr) const;

 private:
  explicit EngineCache(std::string folder) : folder_(std::move(folder)) {}
  std::string PathOf(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
};

}  // namespace lattice

#endif  // LATTICE_ENGINE_CACHE_ENGINE_CACHE_H_
