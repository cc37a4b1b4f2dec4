// Reads a model file off the JS thread, with the weights that lie beside it.
#ifndef LATTICE_ADDON_READ_MODEL_WORK_H_
#define LATTICE_ADDON_READ_MODEL_WORK_H_

#include <napi.h>

namespace lattice {

// readModel(path): a promise of a Buffer, or an Error with the code of ReadModelFile.
Napi::Value StartReadModel(const Napi::CallbackInfo& info);

}  // namespace lattice

#endif  // LATTICE_ADDON_READ_MODEL_WORK_H_
