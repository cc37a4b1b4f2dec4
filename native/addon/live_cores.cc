#include "native/addon/live_cores.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

namespace lattice {
namespace {

struct LiveCores {
  std::mutex mutex;
  std::map<const void*, std::function<void()>> stops;
};

// Never destroyed: it is used while the process exits.
LiveCores& Cores() {
  static auto* cores = new LiveCores();
  return *cores;
}

void StopAll() {
  LiveCores& cores = Cores();
  const std::lock_guard lock(cores.mutex);
  for (auto& [key, stop] : cores.stops) stop();
  cores.stops.clear();
}

}  // namespace

void AddLiveCore(const void* key, std::function<void()> stop) {
  LiveCores& cores = Cores();
  const std::lock_guard lock(cores.mutex);
  cores.stops[key] = std::move(stop);
  RenewExitHandler();
}

void RemoveLiveCore(const void* key) {
  LiveCores& cores = Cores();
  const std::lock_guard lock(cores.mutex);
  cores.stops.erase(key);
}

void RenewExitHandler() { (void)std::atexit(StopAll); }

}  // namespace lattice
