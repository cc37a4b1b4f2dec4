// Reads and writes what JavaScript keeps in the folder of engines, off the JS thread.
#ifndef LATTICE_ADDON_KEPT_FILE_WORK_H_
#define LATTICE_ADDON_KEPT_FILE_WORK_H_

#include <napi.h>

namespace lattice {

// readKept(folder, name): a promise of the text that was kept, null for none. Never rejects.
Napi::Value StartReadKept(const Napi::CallbackInfo& info);

// keep(folder, name, text): a promise that it is kept, or an Error with a code of EngineCache.
Napi::Value StartKeep(const Napi::CallbackInfo& info);

}  // namespace lattice

#endif  // LATTICE_ADDON_KEPT_FILE_WORK_H_
