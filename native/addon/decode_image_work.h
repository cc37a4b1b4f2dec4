// decodeImage() of the addon.
#ifndef LATTICE_ADDON_DECODE_IMAGE_WORK_H_
#define LATTICE_ADDON_DECODE_IMAGE_WORK_H_

#include <napi.h>

namespace lattice {

// A promise of the pixels of the bytes in the first argument, within the pixels and the side that
// the others name; decoded on a thread of libuv.
Napi::Value StartDecodeImage(const Napi::CallbackInfo& info);

}  // namespace lattice

#endif  // LATTICE_ADDON_DECODE_IMAGE_WORK_H_
