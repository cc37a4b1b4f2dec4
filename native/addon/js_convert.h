// JavaScript values <-> plain structs. JS thread only.
//
// Parsing functions throw a TypeError that names the property, leave it pending and return false.
#ifndef LATTICE_ADDON_JS_CONVERT_H_
#define LATTICE_ADDON_JS_CONVERT_H_

#include <napi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "native/scheduler/core.h"
#include "native/scheduler/image_task.h"

namespace lattice {

// An Error with the status's sentence and its code as `code`.
Napi::Value ToError(Napi::Env env, const Status& status);

bool ParseCoreOptions(const Napi::Value& value, CoreOptions& options);
// The second argument of loadModel.
bool ParseLoadOptions(const Napi::Value& value, ModelToLoad& model);

using FindModel = std::function<std::shared_ptr<Engine>(uint32_t)>;
// Keeps the array where it is until the result's last owner is gone, on any thread; null when the
// environment is ending.
using HoldBytes = std::function<SentImage(const Napi::Uint8Array&)>;
bool ParseTasks(const Napi::Value& value, const FindModel& find_model, const HoldBytes& hold_bytes,
                std::vector<ImageTask>& tasks);
bool ParseBatches(const Napi::Value& value, std::vector<int>& batches);
bool ParseIds(const Napi::Value& value, std::vector<uint64_t>& ids);

}  // namespace lattice

#endif  // LATTICE_ADDON_JS_CONVERT_H_
