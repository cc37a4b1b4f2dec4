// JavaScript values <-> plain structs. JS thread only.
//
// Parsing functions throw a TypeError that names the property, leave it pending and return false.
#ifndef LATTICE_ADDON_JS_CONVERT_H_
#define LATTICE_ADDON_JS_CONVERT_H_

#include <napi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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
// Keeps the array where it is until the result's last owner is gone, on any thread; null when the
// environment is ending.
using HoldBytes = std::function<SentImage(const Napi::Uint8Array&)>;
bool ParseTasks(const Napi::Value& value, const FindModel& find_model, const HoldBytes& hold_bytes,
                std::vector<ImageTask>& tasks);
bool ParseIds(const Napi::Value& value, std::vector<uint64_t>& ids);

// The three arguments of OnNativeResults. What small results share from call to call: a typed array
// made for each call had the garbage collector take 40 % of the time under load.
class ResultArguments {
 public:
  explicit ResultArguments(Napi::Env env);

  // Nothing when the environment is ending.
  std::optional<std::array<napi_value, 3>> Make(Napi::Env env,
                                                const std::vector<TaskResult>& results);

 private:
  Napi::Float64Array Meta(Napi::Env env, size_t results);

  size_t capacity_ = 0;  // results that fit `meta_`
  Napi::Reference<Napi::Float64Array> meta_;
  Napi::Reference<Napi::Float32Array> no_boxes_;
};

}  // namespace lattice

#endif  // LATTICE_ADDON_JS_CONVERT_H_
