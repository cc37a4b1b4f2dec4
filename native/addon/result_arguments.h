// Results of the core -> JavaScript values. JS thread only.
#ifndef LATTICE_ADDON_RESULT_ARGUMENTS_H_
#define LATTICE_ADDON_RESULT_ARGUMENTS_H_

#include <napi.h>

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "native/scheduler/image_task.h"

namespace lattice {

// Builds the arguments of OnNativeResults (src/native/contract.ts): meta, boxes, messages, looks,
// descriptors.
// It reuses the meta array and one empty box array across calls, because a typed array per call
// made garbage collection take 40 % of the time under load.
class ResultArguments {
 public:
  explicit ResultArguments(Napi::Env env);

  // The next Make overwrites the meta array: JavaScript must read it before it returns. Returns
  // nullopt when the environment is ending.
  std::optional<std::array<napi_value, 5>> Make(Napi::Env env,
                                                const std::vector<TaskResult>& results);

 private:
  // The meta array, which has room for this many results.
  Napi::Float64Array MetaFor(Napi::Env env, size_t result_count);

  size_t capacity_ = 0;  // results that fit `meta_`
  Napi::Reference<Napi::Float64Array> meta_;
  Napi::Reference<Napi::Float32Array> no_boxes_;
};

}  // namespace lattice

#endif  // LATTICE_ADDON_RESULT_ARGUMENTS_H_
