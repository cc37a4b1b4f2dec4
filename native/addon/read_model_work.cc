#include "native/addon/read_model_work.h"

#include <cstdint>
#include <string>
#include <utility>

#include "native/addon/js_convert.h"
#include "native/model/model_file.h"

namespace lattice {
namespace {

class ReadModelWork final : public Napi::AsyncWorker {
 public:
  ReadModelWork(Napi::Env env, std::string path)
      : Napi::AsyncWorker(env, "latticeReadModel"),
        path_(std::move(path)),
        deferred_(Napi::Promise::Deferred::New(env)) {}

  Napi::Promise promise() const { return deferred_.Promise(); }

 private:
  void Execute() override { read_ = ReadModelFile(path_); }

  void OnOK() override {
    if (!read_.ok()) return deferred_.Reject(ToError(Env(), read_.status()));
    auto* owned = new std::string(*std::move(read_));
    deferred_.Resolve(Napi::Buffer<uint8_t>::New(Env(), reinterpret_cast<uint8_t*>(owned->data()),
                                                 owned->size(),
                                                 [owned](Napi::Env, uint8_t*) { delete owned; }));
  }

  const std::string path_;
  const Napi::Promise::Deferred deferred_;
  Result<std::string> read_ = std::string();
};

}  // namespace

Napi::Value StartReadModel(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsString()) {
    Napi::TypeError::New(env, "path must be a string").ThrowAsJavaScriptException();
    return env.Undefined();
  }
  auto* work = new ReadModelWork(env, info[0].As<Napi::String>());  // deletes itself
  const Napi::Promise promise = work->promise();
  work->Queue();
  return promise;
}

}  // namespace lattice
