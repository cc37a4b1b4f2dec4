#include "native/addon/decode_image_work.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "native/addon/js_convert.h"
#include "native/image/decode.h"

namespace lattice {
namespace {

class DecodeImageWork final : public Napi::AsyncWorker {
 public:
  DecodeImageWork(Napi::Env env, const Napi::Uint8Array& bytes, DecodeLimits limits)
      : Napi::AsyncWorker(env, "latticeDecodeImage"),
        // A copy, because JavaScript may transfer the array meanwhile.
        bytes_(bytes.Data(), bytes.Data() + bytes.ByteLength()),
        limits_(limits),
        deferred_(Napi::Promise::Deferred::New(env)) {}

  Napi::Promise promise() const { return deferred_.Promise(); }

 private:
  void Execute() override { decoded_ = Decode(bytes_, limits_); }

  void OnOK() override {
    if (!decoded_.ok()) return deferred_.Reject(ToError(Env(), decoded_.status()));
    auto image = std::make_unique<Image>(*std::move(decoded_));
    auto object = Napi::Object::New(Env());
    object.Set("width", image->width);
    object.Set("height", image->height);
    Image* owned = image.release();
    object.Set("data", Napi::Buffer<uint8_t>::New(Env(), owned->data.data(), owned->data.size(),
                                                  [owned](Napi::Env, uint8_t*) { delete owned; }));
    deferred_.Resolve(object);
  }

  const std::vector<uint8_t> bytes_;
  const DecodeLimits limits_;
  const Napi::Promise::Deferred deferred_;
  Result<Image> decoded_ = Image{};
};

}  // namespace

Napi::Value StartDecodeImage(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsTypedArray() || !info[1].IsNumber() || !info[2].IsNumber() ||
      info[0].As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array) {
    Napi::TypeError::New(env, "bytes must be a Uint8Array, maxPixels and maxSide numbers")
        .ThrowAsJavaScriptException();
    return env.Undefined();
  }
  const DecodeLimits limits{static_cast<size_t>(info[1].As<Napi::Number>().Int64Value()),
                            info[2].As<Napi::Number>().Int32Value()};
  auto* work = new DecodeImageWork(env, info[0].As<Napi::Uint8Array>(), limits);  // deletes itself
  const Napi::Promise promise = work->promise();
  work->Queue();
  return promise;
}

}  // namespace lattice
