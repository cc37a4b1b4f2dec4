// Functions of the addon that need no core: of model files, kept files and encoded images. Each
// returns a promise of what a thread of libuv makes, or throws a TypeError for other arguments.
#ifndef LATTICE_ADDON_FILE_FUNCTIONS_H_
#define LATTICE_ADDON_FILE_FUNCTIONS_H_

#include <napi.h>

namespace lattice {

// describeModel(path): names and metadata, or an Error with a code of DescribeModelFile.
Napi::Value StartDescribeModel(const Napi::CallbackInfo& info);

// gpuLimits(path): sentences that say what the model could not do on a GPU, or an Error with a code
// of ReadTensorRtModel. Needs no GPU.
Napi::Value StartGpuLimits(const Napi::CallbackInfo& info);

// readModel(path): a Buffer, or an Error with a code of ReadModelFile.
Napi::Value StartReadModel(const Napi::CallbackInfo& info);

// readInKnownLayout(path): a Buffer, or an Error with a code of the function of this name.
Napi::Value StartReadInKnownLayout(const Napi::CallbackInfo& info);

// readKept(folder, name): the text that was kept, null for none. Never rejects.
Napi::Value StartReadKept(const Napi::CallbackInfo& info);

// keep(folder, name, text): null once it is kept, or an Error with a code of KeptFolder.
Napi::Value StartKeep(const Napi::CallbackInfo& info);

// decodeImage(bytes, maxPixels, maxSide): the pixels, or an Error with a code of Decode.
Napi::Value StartDecodeImage(const Napi::CallbackInfo& info);

}  // namespace lattice

#endif  // LATTICE_ADDON_FILE_FUNCTIONS_H_
