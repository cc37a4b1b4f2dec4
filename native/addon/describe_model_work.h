// describeModel() of the addon.
#ifndef LATTICE_ADDON_DESCRIBE_MODEL_WORK_H_
#define LATTICE_ADDON_DESCRIBE_MODEL_WORK_H_

#include <napi.h>

namespace lattice {

// A promise of the description of the file named by the first argument, read on a thread of libuv.
Napi::Value StartDescribeModel(const Napi::CallbackInfo& info);

}  // namespace lattice

#endif  // LATTICE_ADDON_DESCRIBE_MODEL_WORK_H_
