// The folder of files that took long to make: built engines, compiled networks, and facts about
// them.
#ifndef LATTICE_KEPT_KEPT_FOLDER_H_
#define LATTICE_KEPT_KEPT_FOLDER_H_

#include <cstdint>
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

// Files of the folder: what took long to make, under names that say all that it depends on;
// NAME.lock; and NAME.partial while NAME is written. Lock files stay. Other processes may use the
// folder at the same time. Thread-safe.
//
// A file is written whole, flushed and then renamed, with a hash of its bytes (kept_file.h).
//
// To get an engine that takes long to build: Load. Where there is none: Lock, Load again, since
// another process may have built it meanwhile, then build and Store while the lock is held.
class KeptFolder {
 public:
  // Makes the folder with mode 0700 where it is absent; its parent must exist. Fails with
  // kInternalError and advice when it is no folder, belongs to another user, or is writable for
  // others.
  static Result<KeptFolder> Open(const std::string& folder);

  // The bytes that were stored under this name, which is marked as used now. nullopt where there
  // are none, or where another user could have written the file; follows no link. nullopt too where
  // the file is damaged: then `fault` becomes a sentence that names it, and the caller makes it
  // anew.
  std::optional<std::vector<char>> Load(const std::string& name,
                                        std::string* fault = nullptr) const;

  // Stores the file whole or not at all, in place of an earlier one, with mode 0600. The caller
  // holds the name's lock. Fails with kInternalError when it cannot be written; an earlier file
  // stays then.
  Status Store(const std::string& name, std::span<const char> bytes) const;

  // Marks the file as in use: no KeepWithin of any process removes it until the descriptor is
  // closed. Without such a file the descriptor is of none.
  ScopedFd Hold(const std::string& name) const;

  // Removes files whose names end so, those used longest ago first, with what lies beside them as
  // NAME.*, until the others together have so many bytes at most, or are in use. The caller holds a
  // lock that all writers of such files take.
  void KeepWithin(const std::string& suffix, uint64_t most_bytes) const;

  // Takes the right to build and store this file, until the descriptor is closed or the process
  // ends. Blocks until `deadline`, but tries at least once; fails with kDeadlineExceeded after it.
  // Fails with kCancelled once `go_on`, called every 100 ms on this thread while it waits, returns
  // false, and with kInternalError when there can be no lock file.
  Result<ScopedFd> Lock(const std::string& name, Clock::time_point deadline,
                        const std::function<bool()>& go_on = nullptr) const;

 private:
  explicit KeptFolder(std::string folder) : folder_(std::move(folder)) {}
  std::string PathOf(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
};

}  // namespace lattice

#endif  // LATTICE_KEPT_KEPT_FOLDER_H_
