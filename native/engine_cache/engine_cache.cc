#include "native/engine_cache/engine_cache.h"

#include <string_view>

#include "native/engine_cache/sealed_file.h"

namespace lattice {
namespace {

constexpr std::string_view kEngineEnding = ".engine";
// Held only while the file is written.
constexpr std::chrono::seconds kTimingLockWait(10);

std::string EngineName(const EngineKey& key) { return KeyStem(key) + ".engine"; }
std::string EngineLockName(const EngineKey& key) { return KeyStem(key) + ".lock"; }
std::string TimingName(const EngineKey& key) { return "timing-" + TimingStem(key) + ".cache"; }
std::string TimingLockName(const EngineKey& key) { return "timing-" + TimingStem(key) + ".lock"; }

}  // namespace

Result<std::unique_ptr<EngineCache>> EngineCache::Open(const std::string& folder) {
  auto opened = PrivateFolder::Open(folder);
  if (!opened.ok()) return opened.status();
  return std::unique_ptr<EngineCache>(new EngineCache(*std::move(opened)));
}

Result<StoredEngine> EngineCache::Load(const EngineKey& key) const {
  const std::string name = EngineName(key);
  auto file = ReadSealed(folder_, name, kEngineMagic, SealedPart::kWhole);
  if (!file.ok()) return file.status();
  StoredEngine engine;
  engine.state = file->state;
  engine.reason = std::move(file->reason);
  if (engine.state != FileState::kReady) return engine;
  const auto header = ParseHeader(file->text);
  if (!header || header->key != key) {
    engine.state = FileState::kStale;
    engine.reason = name + " holds an engine of another key.";
    return engine;
  }
  engine.header = *header;
  engine.plan = std::move(file->payload);
  // On a folder that may only be read, the last use stays unknown.
  static_cast<void>(folder_.MarkUsed(name));
  return engine;
}

Status EngineCache::Touch(const EngineKey& key) const { return folder_.MarkUsed(EngineName(key)); }

Result<FileLock> EngineCache::Lock(const EngineKey& key, Clock::time_point deadline,
                                   const std::function<bool()>& go_on) const {
  return FileLock::Acquire(folder_.fd(), EngineLockName(key), deadline, go_on);
}

Status EngineCache::Store(const FileLock& lock, const EngineHeader& header,
                          std::span<const char> plan) const {
  const std::string name = EngineName(header.key);
  if (lock.name() != EngineLockName(header.key)) {
    return {StatusCode::kInternalError, name + " cannot be stored under the lock " + lock.name()};
  }
  return WriteSealed(folder_, name, kEngineMagic, HeaderText(header), plan);
}

Result<StoredTimings> EngineCache::LoadTimingCache(const EngineKey& key) const {
  const std::string name = TimingName(key);
  auto file = ReadSealed(folder_, name, kTimingMagic, SealedPart::kWhole);
  if (!file.ok()) return file.status();
  StoredTimings timings;
  timings.state = file->state;
  timings.reason = std::move(file->reason);
  if (timings.state != FileState::kReady) return timings;
  if (file->text != TimingText(key)) {
    timings.state = FileState::kStale;
    timings.reason = name + " holds timings of another TensorRT version or GPU.";
    return timings;
  }
  timings.bytes = std::move(file->payload);
  static_cast<void>(folder_.MarkUsed(name));
  return timings;
}

Status EngineCache::StoreTimingCache(const EngineKey& key, std::span<const char> bytes) const {
  const auto lock =
      FileLock::Acquire(folder_.fd(), TimingLockName(key), Clock::now() + kTimingLockWait);
  if (!lock.ok()) return lock.status();
  return WriteSealed(folder_, TimingName(key), kTimingMagic, TimingText(key), bytes);
}

Result<EngineFile> EngineCache::Describe(const std::string& name) const {
  auto sealed = ReadSealed(folder_, name, kEngineMagic, SealedPart::kHeader);
  if (!sealed.ok()) return sealed.status();
  EngineFile file;
  file.name = name;
  file.state = sealed->state;
  file.reason = std::move(sealed->reason);
  file.bytes = sealed->bytes;
  file.last_used_s = sealed->last_used_s;
  if (file.state != FileState::kReady) return file;
  file.header = ParseHeader(sealed->text);
  if (!file.header || EngineName(file.header->key) != name) {
    file.state = FileState::kStale;
    file.reason = name + " holds an engine of another key.";
  }
  return file;
}

Result<std::vector<EngineFile>> EngineCache::List() const {
  const auto names = folder_.Names();
  if (!names.ok()) return names.status();
  std::vector<EngineFile> files;
  for (const std::string& name : *names) {
    if (!name.ends_with(kEngineEnding)) continue;
    auto file = Describe(name);
    if (!file.ok()) return file.status();
    // Absent: removed since the folder was read.
    if (file->state != FileState::kAbsent) files.push_back(*std::move(file));
  }
  return files;
}

}  // namespace lattice
