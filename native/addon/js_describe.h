// A core's models and statistics as JavaScript objects. JS thread only.
#ifndef LATTICE_ADDON_JS_DESCRIBE_H_
#define LATTICE_ADDON_JS_DESCRIBE_H_

#include <napi.h>

#include "native/scheduler/core.h"

namespace lattice {

Napi::Object ToModel(Napi::Env env, const LoadedModel& model);
// Null where the engine measures none.
Napi::Value ToSliceTimes(Napi::Env env, const SliceTimes& times);
Napi::Object ToDecodeRoutes(Napi::Env env, const Core& core);
Napi::Object ToStats(Napi::Env env, const Core& core);

}  // namespace lattice

#endif  // LATTICE_ADDON_JS_DESCRIBE_H_
