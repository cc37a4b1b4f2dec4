#include "native/addon/gpu_limits_work.h"

#include <string>
#include <utility>
#include <vector>

#include "native/addon/js_convert.h"
#include "native/addon/js_describe.h"
#include "native/gpu/tensorrt/tensorrt_model.h"

namespace lattice {
namespace {

class GpuLimitsWork final : public Napi::AsyncWorker {
 public:
  GpuLimitsWork(Napi::Env env, std::string path)
      : Napi::AsyncWorker(env, "latticeGpuLimits"),
        path_(std::move(path)),
        deferred_(Napi::Promise::Deferred::New(env)) {}

  Napi::Promise promise() const { return deferred_.Promise(); }

 private:
  void Execute() override {
    const auto model = ReadTensorRtModel(path_);
    failed_ = model.status();
    if (model.ok()) limits_ = model->info.without;
  }

  void OnOK() override {
    if (!failed_.ok()) return deferred_.Reject(ToError(Env(), failed_));
    deferred_.Resolve(ToNames(Env(), limits_));
  }

  const std::string path_;
  const Napi::Promise::Deferred deferred_;
  Status failed_;
  std::vector<std::string> limits_;
};

}  // namespace

Napi::Value StartGpuLimits(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsString()) {
    Napi::TypeError::New(env, "path must be a string").ThrowAsJavaScriptException();
    return env.Undefined();
  }
  auto* work = new GpuLimitsWork(env, info[0].As<Napi::String>());  // deletes itself
  const Napi::Promise promise = work->promise();
  work->Queue();
  return promise;
}

}  // namespace lattice
