// The part of EngineCache that takes files away.
#include <string_view>

#include "native/engine_cache/engine_cache.h"
#include "native/engine_cache/sealed_file.h"

namespace lattice {
namespace {

constexpr std::string_view kEngineEnding = ".engine";
constexpr std::string_view kTimingStart = "timing-";
constexpr std::string_view kTimingEnding = ".cache";
constexpr std::string_view kPartialEnding = ".partial";

bool IsEngine(std::string_view name) { return name.ends_with(kEngineEnding); }

bool IsTimings(std::string_view name) {
  return name.starts_with(kTimingStart) && name.ends_with(kTimingEnding);
}

std::string_view WithoutPartial(std::string_view name) {
  if (name.ends_with(kPartialEnding)) name.remove_suffix(kPartialEnding.size());
  return name;
}

// The lock under which a file of this name is written.
std::string LockName(std::string_view name) {
  name = WithoutPartial(name);
  name.remove_suffix(IsEngine(name) ? kEngineEnding.size() : kTimingEnding.size());
  return std::string(name) + ".lock";
}

bool IsUnused(int64_t last_used_s, const PruneRules& rules) {
  if (!rules.unused_for) return false;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count() - last_used_s >=
         rules.unused_for->count();
}

bool IsOtherVersion(const std::string& version, const PruneRules& rules) {
  return rules.tensorrt_version && version != *rules.tensorrt_version;
}

bool EngineGoes(const EngineFile& file, const PruneRules& rules) {
  if (file.state == FileState::kAbsent || file.state == FileState::kForeign) return false;
  if (rules.spare && rules.spare(file)) return false;
  if (file.state != FileState::kReady) return true;
  return IsUnused(file.last_used_s, rules) ||
         IsOtherVersion(file.header->key.tensorrt_version, rules) ||
         (rules.drop && rules.drop(file));
}

bool TimingsGo(const SealedFile& file, const PruneRules& rules) {
  if (file.state == FileState::kAbsent || file.state == FileState::kForeign) return false;
  if (file.state != FileState::kReady || IsUnused(file.last_used_s, rules)) return true;
  NamedLines lines(file.text);
  return IsOtherVersion(lines.Take("tensorrt_version"), rules);
}

}  // namespace

// Whether the file is to be removed. Its lock is held, so a partial file has no writer.
Result<bool> EngineCache::Goes(const std::string& name, const PruneRules& rules,
                               uint64_t* bytes) const {
  if (name.ends_with(kPartialEnding)) {
    const auto opened = folder_.OpenFile(name);
    if (!opened.ok()) return opened.status();
    *bytes = opened->bytes;
    return opened->state == FileState::kReady;
  }
  if (IsEngine(name)) {
    const auto file = Describe(name);
    if (!file.ok()) return file.status();
    *bytes = file->bytes;
    return EngineGoes(*file, rules);
  }
  const auto file = ReadSealed(folder_, name, kTimingMagic, SealedPart::kHeader);
  if (!file.ok()) return file.status();
  *bytes = file->bytes;
  return TimingsGo(*file, rules);
}

Result<std::vector<PrunedFile>> EngineCache::Prune(const PruneRules& rules) const {
  const auto names = folder_.Names();
  if (!names.ok()) return names.status();
  std::vector<PrunedFile> pruned;
  for (const std::string& name : *names) {
    const std::string_view whole = WithoutPartial(name);
    if (!IsEngine(whole) && !IsTimings(whole)) continue;
    const std::string lock_name = LockName(name);
    const auto lock = FileLock::Acquire(folder_.fd(), lock_name, Clock::now());
    if (!lock.ok() && lock.status().code() == StatusCode::kDeadlineExceeded) continue;
    if (!lock.ok()) return lock.status();
    PrunedFile file{name, 0};
    const auto goes = Goes(name, rules, &file.bytes);
    if (!goes.ok()) return goes.status();
    if (*goes) pruned.push_back(file);
    if (*goes && !rules.dry_run) {
      if (const Status status = folder_.Remove(name); !status.ok()) return status;
    }
    // Who waits for it sees that it has lost its name, and makes another.
    if (const Status status = folder_.Remove(lock_name); !status.ok()) return status;
  }
  return pruned;
}

}  // namespace lattice
