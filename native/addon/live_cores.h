// Lists every open core of the process, so that the threads of a core end before the libraries that
// they run in are torn down.
#ifndef LATTICE_ADDON_LIVE_CORES_H_
#define LATTICE_ADDON_LIVE_CORES_H_

#include <functional>

namespace lattice {

// process.exit() skips the clean-up of environments and goes straight to the C exit handlers.
// `stop` is then called, on the exiting thread; it must end the core's threads without touching
// JavaScript. Thread-safe.
void AddLiveCore(const void* key, std::function<void()> stop);

// When it returns, `stop` is not running and will not be called.
void RemoveLiveCore(const void* key);

// Registers the exit handler again so that it runs before handlers that libraries added meanwhile.
// Whichever copy runs first does all the work. Call it after loading a model.
void RenewExitHandler();

}  // namespace lattice

#endif  // LATTICE_ADDON_LIVE_CORES_H_
