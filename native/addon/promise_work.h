// Work of a thread of libuv that a promise of JavaScript waits for.
#ifndef LATTICE_ADDON_PROMISE_WORK_H_
#define LATTICE_ADDON_PROMISE_WORK_H_

#include <napi.h>

#include <functional>
#include <optional>
#include <utility>

#include "native/addon/js_convert.h"
#include "native/base/status.h"

namespace lattice {

template <typename Made>
class PromiseWork final : public Napi::AsyncWorker {
 public:
  using Make = std::function<Result<Made>()>;
  using ToJs = Napi::Value (*)(Napi::Env env, Made made);

  // Calls `make` on a thread of libuv, then `to_js` on the JS thread, and resolves the promise with
  // what that returns. A status rejects it as ToError says.
  static Napi::Value Start(Napi::Env env, const char* name, Make make, ToJs to_js) {
    auto* work = new PromiseWork(env, name, std::move(make), to_js);  // deletes itself
    const Napi::Promise promise = work->deferred_.Promise();
    work->Queue();
    return promise;
  }

 private:
  PromiseWork(Napi::Env env, const char* name, Make make, ToJs to_js)
      : Napi::AsyncWorker(env, name),
        make_(std::move(make)),
        to_js_(to_js),
        deferred_(Napi::Promise::Deferred::New(env)) {}

  void Execute() override { made_.emplace(make_()); }

  void OnOK() override {
    if (!made_->ok()) return deferred_.Reject(ToError(Env(), made_->status()));
    deferred_.Resolve(to_js_(Env(), **std::move(made_)));
  }

  const Make make_;
  const ToJs to_js_;
  const Napi::Promise::Deferred deferred_;
  std::optional<Result<Made>> made_;
};

}  // namespace lattice

#endif  // LATTICE_ADDON_PROMISE_WORK_H_
