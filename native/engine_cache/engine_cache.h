// The folder of built TensorRT engines.
#ifndef LATTICE_ENGINE_CACHE_ENGINE_CACHE_H_
#define LATTICE_ENGINE_CACHE_ENGINE_CACHE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "native/base/status.h"
#include "native/base/stopwatch.h"
#include "native/engine_cache/engine_header.h"
#include "native/engine_cache/engine_key.h"
#include "native/engine_cache/file_lock.h"
#include "native/engine_cache/private_folder.h"

namespace lattice {

// An engine as it was loaded.
struct StoredEngine {
  FileState state = FileState::kAbsent;
  std::string reason;      // a sentence for the user, unless ready or absent
  EngineHeader header;     // for kReady
  std::vector<char> plan;  // for kReady: what TensorRT serialized
};

// TensorRT's timing cache as it was loaded.
struct StoredTimings {
  FileState state = FileState::kAbsent;
  std::string reason;
  std::vector<char> bytes;  // for kReady
};

// An engine file as a list shows it. Its plan is not read, so kReady says that the header and the
// length are sound.
struct EngineFile {
  std::string name;
  FileState state = FileState::kAbsent;  // never kAbsent in a list
  std::string reason;
  std::optional<EngineHeader> header;  // for kReady, and for kStale where it could be read
  uint64_t bytes = 0;
  int64_t last_used_s = 0;  // Unix time
};

// What a prune takes away: every stale or damaged file and what broken-off builds left; with the
// fields that are set, also sound files that fit any of them.
struct PruneRules {
  std::optional<std::chrono::seconds> unused_for;
  std::optional<std::string> tensorrt_version;   // files of any other version
  std::function<bool(const EngineFile&)> drop;   // asked for ready engines only
  std::function<bool(const EngineFile&)> spare;  // yes: stays, whatever else fits
  bool dry_run = false;
};

struct PrunedFile {
  std::string name;
  uint64_t bytes = 0;
};

// Files of the folder: STEM.engine with STEM.lock beside it, timing-STEM.cache with
// timing-STEM.lock, and NAME.partial while NAME is written. Thread-safe; other processes may use
// the folder at the same time. Sentences hold names of files, never the folder's path.
//
// To have an engine: Load. Unless it is ready (or foreign: then refuse with its reason), Lock, Load
// once more, since somebody may have built it meanwhile, then build and Store under the lock.
class EngineCache {
 public:
  // As PrivateFolder::Open.
  static Result<std::unique_ptr<EngineCache>> Open(const std::string& folder);

  // Reads the whole file, checks every byte of it against its checksums and marks it as used. Stale
  // is an engine of another key or of another version of lattice under this key's name; an engine
  // of another TensorRT or GPU has another name, so it is absent here. kInternalError when reading
  // fails.
  Result<StoredEngine> Load(const EngineKey& key) const;

  // Marks a stored engine as used now, so that a prune by age spares it. For who keeps one loaded.
  Status Touch(const EngineKey& key) const;

  // The right to build and store this engine. Blocks until `deadline` or until `go_on` says no, as
  // FileLock::Acquire. Free again at the end of the lock or of the process.
  Result<FileLock> Lock(const EngineKey& key, Clock::time_point deadline,
                        const std::function<bool()>& go_on = nullptr) const;

  // Replaces whatever is stored under header.key, unless it is foreign. Whole or not at all. `lock`
  // is Lock's of that key. kInternalError when the disk is full or the file foreign; a stored
  // engine stays then.
  Status Store(const FileLock& lock, const EngineHeader& header, std::span<const char> plan) const;

  // TensorRT's timing cache of the key's TensorRT version and GPU; the rest of the key does not
  // matter. Of two writers the later one wins.
  Result<StoredTimings> LoadTimingCache(const EngineKey& key) const;
  Status StoreTimingCache(const EngineKey& key, std::span<const char> bytes) const;

  // Every *.engine file, by name.
  Result<std::vector<EngineFile>> List() const;

  // What was removed, or would be. Foreign files stay, and so does everything of a key whose lock
  // somebody holds.
  Result<std::vector<PrunedFile>> Prune(const PruneRules& rules) const;

 private:
  explicit EngineCache(PrivateFolder folder) : folder_(std::move(folder)) {}

  Result<EngineFile> Describe(const std::string& name) const;
  Result<bool> Goes(const std::string& name, const PruneRules& rules, uint64_t* bytes) const;

  PrivateFolder folder_;
};

}  // namespace lattice

#endif  // LATTICE_ENGINE_CACHE_ENGINE_CACHE_H_
