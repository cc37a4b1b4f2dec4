#include "native/addon/describe_model_work.h"

#include <string>
#include <utility>

#include "native/addon/js_convert.h"
#include "native/addon/js_describe.h"
#include "native/model/onnx_metadata.h"

namespace lattice {
namespace {

class DescribeModelWork final : public Napi::AsyncWorker {
 public:
  DescribeModelWork(Napi::Env env, std::string path)
      : Napi::AsyncWorker(env, "latticeDescribeModel"),
        path_(std::move(path)),
        deferred_(Napi::Promise::Deferred::New(env)) {}

  Napi::Promise promise() const { return deferred_.Promise(); }

 private:
  void Execute() override { described_ = DescribeModelFile(path_); }

  void OnOK() override {
    if (!described_.ok()) return deferred_.Reject(ToError(Env(), described_.status()));
    auto object = Napi::Object::New(Env());
    object.Set("names", ToNames(Env(), described_->names));
    object.Set("metadata", ToMetadata(Env(), described_->metadata));
    deferred_.Resolve(object);
  }

  const std::string path_;
  const Napi::Promise::Deferred deferred_;
  Result<ModelDescription> described_ = ModelDescription{};
};

}  // namespace

Napi::Value StartDescribeModel(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsString()) {
    Napi::TypeError::New(env, "path must be a string").ThrowAsJavaScriptException();
    return env.Undefined();
  }
  auto* work = new DescribeModelWork(env, info[0].As<Napi::String>());  // deletes itself
  const Napi::Promise promise = work->promise();
  work->Queue();
  return promise;
}

}  // namespace lattice
