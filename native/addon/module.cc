// What the addon exports: NativeAddon of src/native/contract.ts, line for line.
#include <napi.h>

#include "native/addon/core_wrap.h"
#include "native/engine/openvino_network.h"
#include "native/image/decode.h"

namespace {

Napi::Value BuildInfo(const Napi::CallbackInfo& info) {
  auto object = Napi::Object::New(info.Env());
  object.Set("version", LATTICE_VERSION);
  object.Set("openvino", lattice::OpenVinoVersion());
  object.Set("cuda", info.Env().Null());
  object.Set("libvips", lattice::LibvipsVersion());
  object.Set("jpeg", lattice::JpegDecoderName());
  return object;
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("buildInfo", Napi::Function::New(env, BuildInfo, "buildInfo"));
  exports.Set("Core", lattice::CoreWrap::Class(env));
  return exports;
}

}  // namespace

NODE_API_MODULE(lattice, Init)
