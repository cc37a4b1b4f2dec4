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

#include "native/pipeline/image_task.h"
#include "native/scheduler/core.h"

namespace lattice {

// "invalid_model" for kInvalidModel, as NATIVE_CODES of src/native/contract.ts.
const char* CodeName(StatusCode code);

// An Error with the status's sentence and its code as `code`.
Napi::Value ToError(Napi::Env env, const Status& status);

bool ParseCoreOptions(const Napi::Value& value, CoreOptions& options);

using FindModel = std::function<std::shared_ptr<Engine>(uint32_t)>;
bool ParseTasks(const Napi::Value& value, const FindModel& find_model, std::vector<ImageTask>& tasks);
bool ParseIds(const Napi::Value& value, std::vector<uint64_t>& ids);

Napi::Object ToModel(Napi::Env env, const LoadedModel& model);
Napi::Object ToStats(Napi::Env env, const Core& core);

// The three arguments of OnNativeResults. `no_boxes` is an empty Float32Array to use for every image without boxes.
std::vector<napi_value> ToResultArguments(Napi::Env env, const std::vector<TaskResult>& results,
                                          const Napi::Value& no_boxes);

}  // namespace lattice

#endif  // LATTICE_ADDON_JS_CONVERT_H_
