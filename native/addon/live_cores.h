// Every open core of the process, so that its threads end before the libraries they run in are torn
// down.
#ifndef LATTICE_ADDON_LIVE_CORES_H_
#define LATTICE_ADDON_LIVE_CORES_H_

#include <functional>

namespace lattice {

// process.exit() skips the clean-up of environments and goes straight to the C exit handlers.
// `stop` is then called, on the exiting thread; it must end the core's threads without touching
// JavaScript. Thread-safe.
void AddLiveCore(const void* key, std::function<void()> stop);

// After its return `stop` is not running and will not be called.
void RemoveLiveCore(const void* key);

// Registers the exit handler once more, in front of those that libraries have registered so far;
// the first one to run does all. To be called when a library may have added some, that is after a
// model was loaded.
void RenewExitHandler();

}  // namespace lattice

#endif  // LATTICE_ADDON_LIVE_CORES_H_
