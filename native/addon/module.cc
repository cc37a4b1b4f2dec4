// Exports of the addon: NativeAddon of src/native/contract.ts, line for line.
#include <napi.h>

#include <string>

#include "native/addon/core_wrap.h"
#include "native/addon/decode_image_work.h"
#include "native/addon/describe_model_work.h"
#include "native/addon/gpu_limits_work.h"
#include "native/addon/kept_file_work.h"
#include "native/addon/read_model_work.h"
#include "native/cpu/openvino_network.h"
#include "native/engine/gpu_engine.h"
#include "native/image/decode.h"

namespace {

Napi::Value BuildInfo(const Napi::CallbackInfo& info) {
  auto object = Napi::Object::New(info.Env());
  object.Set("version", LATTICE_VERSION);
  object.Set("openvino", lattice::OpenVinoVersion());
  const std::string gpu = lattice::GpuBuild();
  object.Set("cuda",
             gpu.empty() ? info.Env().Null() : Napi::Value(Napi::String::New(info.Env(), gpu)));
  object.Set("libvips", lattice::LibvipsVersion());
  object.Set("jpeg", lattice::JpegDecoderName());
  return object;
}

Napi::Object ToGpu(Napi::Env env, const lattice::GpuIdentity& identity) {
  auto gpu = Napi::Object::New(env);
  gpu.Set("index", identity.index);
  gpu.Set("name", identity.name);
  gpu.Set("uuid", identity.uuid);
  gpu.Set("busId", identity.bus_id);
  gpu.Set("numaNode", identity.numa_node < 0
                          ? env.Null()
                          : Napi::Value(Napi::Number::New(env, identity.numa_node)));
  gpu.Set("memoryTotal", static_cast<double>(identity.memory_bytes));
  return gpu;
}

Napi::Value Gpus(const Napi::CallbackInfo& info) {
  const auto usable = lattice::UsableGpus();
  auto gpus = Napi::Array::New(info.Env());
  for (uint32_t i = 0; usable.ok() && i < usable->size(); ++i) {
    gpus.Set(i, ToGpu(info.Env(), (*usable)[i]));
  }
  auto object = Napi::Object::New(info.Env());
  object.Set("gpus", gpus);
  if (usable.ok()) {
    object.Set("missing", info.Env().Null());
  } else {
    object.Set("missing", usable.status().message());
  }
  return object;
}

Napi::Value JpegEnginesMissing(const Napi::CallbackInfo& info) {
  const lattice::Status found = lattice::FindJpegEngines();
  if (found.ok()) return info.Env().Null();
  return Napi::String::New(info.Env(), found.message());
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("buildInfo", Napi::Function::New(env, BuildInfo, "buildInfo"));
  exports.Set("gpus", Napi::Function::New(env, Gpus, "gpus"));
  exports.Set("jpegEnginesMissing",
              Napi::Function::New(env, JpegEnginesMissing, "jpegEnginesMissing"));
  exports.Set("describeModel",
              Napi::Function::New(env, lattice::StartDescribeModel, "describeModel"));
  exports.Set("gpuLimits", Napi::Function::New(env, lattice::StartGpuLimits, "gpuLimits"));
  exports.Set("readModel", Napi::Function::New(env, lattice::StartReadModel, "readModel"));
  exports.Set("readKept", Napi::Function::New(env, lattice::StartReadKept, "readKept"));
  exports.Set("keep", Napi::Function::New(env, lattice::StartKeep, "keep"));
  exports.Set("decodeImage", Napi::Function::New(env, lattice::StartDecodeImage, "decodeImage"));
  exports.Set("Core", lattice::CoreWrap::Class(env));
  return exports;
}

}  // namespace

NODE_API_MODULE(lattice, Init)
