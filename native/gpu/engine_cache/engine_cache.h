// The folder of built TensorRT engines.
#ifndef LATTICE_GPU_ENGINE_CACHE_ENGINE_CACHE_H_
#define LATTICE_GPU_ENGINE_CACHE_ENGINE_CACHE_H_

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "native/base/scoped_fd.h"
#include "native/base/status.h"
#include "native/base/stopwatch.h"
#include "native/gpu/engine_cache/engine_key.h"

namespace lattice {

// Files of the folder: plans and timing caches as TensorRT wrote them, under the names of
// engine_key.h; NAME.lock; and NAME.partial while NAME is written. Lock files stay. `lattice
// engine` lists and removes engines; other processes may use the folder at the same time.
// Thread-safe.
//
// A file is written whole, flushed and then renamed, and TensorRT refuses a plan whose length or
// header is wrong. Damage within a plan is not looked for: the self-check of a loaded model is
// there for wrong boxes.
//
// To get an engine: Load. Where there is none: Lock, Load again, since another process may have
// built it meanwhile, then build and Store while the lock is held.
class EngineCache {
 public:
  // Makes the folder with mode 0700 where it is absent; its parent must exist. kInternalError, with
  // what to do, when it is no folder, belongs to another user, or is writable for others.
  static Result<EngineCache> Open(const std::string& folder);

  // The plan that was stored under this key, marked as used now. Empty where there is none, or
  // none that only this user could have written. Follows no link.
  std::optional<std::vector<char>> Load(const EngineKey& key) const;

  // Whole or not at all, in place of what was there, mode 0600. The caller holds the key's lock.
  // kInternalError when it cannot be written; what was there stays then.
  Status Store(const EngineKey& key, std::span<const char> plan) const;

  // The right to build and store this engine, until the descriptor is closed or the process ends.
  // Blocks until `deadline`, at least one try: kDeadlineExceeded after it. kCancelled once
  // `go_on`, called every 100 ms on this thread while it waits, returns false. kInternalError when
  // there can be no lock file.
  Result<ScopedFd> Lock(const EngineKey& key, Clock::time_point deadline,
                        const std::function<bool()>& go_on = nullptr) const;

  // TensorRT's timing cache for the key's TensorRT version and GPU; empty where there is none. Of
  // two writers the later one wins. TensorRT ignores one that does not fit.
  std::vector<char> LoadTimings(const EngineKey& key) const;
  Status StoreTimings(const EngineKey& key, std::span<const char> bytes) const;

 private:
  explicit EngineCache(std::string folder) : folder_(std::move(folder)) {}
  std::string PathOf(const std::string& name) const { return folder_ + "/" + name; }
  Result<ScopedFd> LockFile(const std::string& name, Clock::time_point deadline,
                            const std::function<bool()>& go_on) const;

  std::string folder_;
};

}  // namespace lattice

#endif  // LATTICE_GPU_ENGINE_CACHE_ENGINE_CACHE_H_
