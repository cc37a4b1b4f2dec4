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

#endif  // LATTICE_ADDON_RESULT_ARGUMENTS_H_
