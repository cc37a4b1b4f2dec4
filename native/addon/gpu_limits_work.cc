#include "native/addon/gpu_limits_work.h"

#include <chrono>

#include "native/addon/js_convert.h"
#include "native/engine/tensorrt/gpu_limits.h"

namespace lattice {
namespace {

Napi::Object ToGpuLimits(Napi::Env env, const GpuLimits& limits) {
  auto object = Napi::Object::New(env);
  object.Set("name", limits.name);
  object.Set("tensorrt", limits.tensorrt);
  object.Set("copyGbS", limits.copy_gb_s);
  object.Set("uploadGbS", limits.upload_gb_s);
  object.Set("downloadGbS", limits.download_gb_s);
  object.Set("matrixTflopS", limits.matrix_tflop_s);
  object.Set("matrixSize", limits.matrix_size);
  object.Set("matrixMissing", limits.matrix_missing.empty()
                                  ? env.Null()
                                  : Napi::Value(Napi::String::New(env, limits.matrix_missing)));
  return object;
}

class GpuLimitsWork final : public Napi::AsyncWorker {
 public:
  GpuLimitsWork(Napi::Env env, int rounds, std::chrono::milliseconds time)
      : Napi::AsyncWorker(env, "latticeGpuLimits"),
        rounds_(rounds),
        time_(time),
        deferred_(Napi::Promise::Deferred::New(env)) {}

  Napi::Promise promise() const { return deferred_.Promise(); }

 private:
  void Execute() override { measured_ = MeasureGpuLimits(rounds_, time_); }

  void OnOK() override {
    if (measured_.ok()) {
      deferred_.Resolve(ToGpuLimits(Env(), *measured_));
    } else {
      deferred_.Reject(ToError(Env(), measured_.status()));
    }
  }

  const int rounds_;
  const std::chrono::milliseconds time_;
  const Napi::Promise::Deferred deferred_;
  Result<GpuLimits> measured_ = GpuLimits{};
};

}  // namespace

Napi::Value StartGpuLimits(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsNumber() || !info[1].IsNumber()) {
    Napi::TypeError::New(env, "rounds and seconds must be numbers").ThrowAsJavaScriptException();
    return env.Undefined();
  }
  const std::chrono::duration<double> time(info[1].As<Napi::Number>().DoubleValue());
  auto* work =  // deletes itself when it is done
      new GpuLimitsWork(env, info[0].As<Napi::Number>().Int32Value(),
                        std::chrono::duration_cast<std::chrono::milliseconds>(time));
  const Napi::Promise promise = work->promise();
  work->Queue();
  return promise;
}

}  // namespace lattice
