// Models and statistics as JavaScript objects. JS thread only.
#ifndef LATTICE_ADDON_JS_DESCRIBE_H_
#define LATTICE_ADDON_JS_DESCRIBE_H_

#include <napi.h>

#include <map>
#include <string>
#include <vector>

#include "native/scheduler/core.h"

namespace lattice {

Napi::Array ToNames(Napi::Env env, const std::vector<std::string>& names);
Napi::Object ToMetadata(Napi::Env env, const std::map<std::string, std::string>& metadata);
Napi::Object ToModel(Napi::Env env, const LoadedModel& model);
Napi::Object ToDecodeStats(Napi::Env env, const Core& core);
Napi::Object ToStats(Napi::Env env, const Core& core);

}  // namespace lattice

#endif  // LATTICE_ADDON_JS_DESCRIBE_H_
