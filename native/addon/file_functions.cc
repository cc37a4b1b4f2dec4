#include "native/addon/file_functions.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "native/addon/js_describe.h"
#include "native/addon/promise_work.h"
#include "native/gpu/tensorrt/tensorrt_model.h"
#include "native/image/decode.h"
#include "native/kept/kept_folder.h"
#include "native/layouts/known_layout.h"
#include "native/model/model_file.h"
#include "native/model/onnx_metadata.h"

namespace lattice {
namespace {

// All processes together write one text at a time, which takes a moment.
constexpr char kLockName[] = "texts";
constexpr std::chrono::seconds kLongestWait{10};

using Text = std::optional<std::string>;

Result<Text> ReadText(const std::string& path, const std::string& name) {
  const auto folder = KeptFolder::Open(path);
  const auto bytes = folder.ok() ? folder->Load(name) : std::nullopt;
  return bytes ? Text(std::string(bytes->begin(), bytes->end())) : Text();
}

Result<Text> KeepText(const std::string& path, const std::string& name, const std::string& text) {
  const auto folder = KeptFolder::Open(path);
  if (!folder.ok()) return folder.status();
  const auto lock = folder->Lock(kLockName, Clock::now() + kLongestWait);
  if (!lock.ok()) return lock.status();
  const Status stored = folder->Store(name, text);
  if (!stored.ok()) return stored;
  return Text();
}

Result<std::vector<std::string>> GpuLimitsOf(const std::string& path) {
  auto model = ReadTensorRtModel(path);
  if (!model.ok()) return model.status();
  return std::move(model->info.without);
}

Napi::Value KeptToJs(Napi::Env env, Text text) {
  return text ? Napi::Value(Napi::String::New(env, *text)) : env.Null();
}

// A Buffer of these bytes, which it owns.
template <typename Bytes>
Napi::Value ToBuffer(Napi::Env env, Bytes bytes) {
  auto* owned = new Bytes(std::move(bytes));
  return Napi::Buffer<uint8_t>::New(env, reinterpret_cast<uint8_t*>(owned->data()), owned->size(),
                                    [owned](Napi::Env, uint8_t*) { delete owned; });
}

// The first `count` arguments; empty, with an exception, where one is no string.
std::vector<std::string> Texts(const Napi::CallbackInfo& info, size_t count, const char* needed) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < count; ++i) {
    if (!info[i].IsString()) {
      Napi::TypeError::New(info.Env(), needed).ThrowAsJavaScriptException();
      return {};
    }
    texts.push_back(info[i].As<Napi::String>());
  }
  return texts;
}

template <typename Made>
Napi::Value StartOnPath(const Napi::CallbackInfo& info, const char* name,
                        Result<Made> (*make)(const std::string& path),
                        typename PromiseWork<Made>::ToJs to_js) {
  const std::vector<std::string> path = Texts(info, 1, "path must be a string");
  if (path.empty()) return info.Env().Undefined();
  return PromiseWork<Made>::Start(
      info.Env(), name, [path, make] { return make(path[0]); }, to_js);
}

constexpr char kTextsNeeded[] = "folder, name and text must be strings";

}  // namespace

Napi::Value StartDescribeModel(const Napi::CallbackInfo& info) {
  return StartOnPath<ModelDescription>(
      info, "latticeDescribeModel", DescribeModelFile,
      [](Napi::Env env, ModelDescription described) -> Napi::Value {
        auto object = Napi::Object::New(env);
        object.Set("names", ToNames(env, described.names));
        object.Set("metadata", ToMetadata(env, described.metadata));
        return object;
      });
}

Napi::Value StartGpuLimits(const Napi::CallbackInfo& info) {
  return StartOnPath<std::vector<std::string>>(
      info, "latticeGpuLimits", GpuLimitsOf,
      [](Napi::Env env, std::vector<std::string> limits) -> Napi::Value {
        return ToNames(env, limits);
      });
}

Napi::Value StartReadModel(const Napi::CallbackInfo& info) {
  return StartOnPath<std::string>(info, "latticeReadModel", ReadModelFile, ToBuffer<std::string>);
}

Napi::Value StartReadInKnownLayout(const Napi::CallbackInfo& info) {
  return StartOnPath<std::string>(info, "latticeReadInKnownLayout", ReadInKnownLayout,
                                  ToBuffer<std::string>);
}

Napi::Value StartReadKept(const Napi::CallbackInfo& info) {
  const std::vector<std::string> texts = Texts(info, 2, kTextsNeeded);
  if (texts.empty()) return info.Env().Undefined();
  return PromiseWork<Text>::Start(
      info.Env(), "latticeReadKept", [texts] { return ReadText(texts[0], texts[1]); }, KeptToJs);
}

Napi::Value StartKeep(const Napi::CallbackInfo& info) {
  const std::vector<std::string> texts = Texts(info, 3, kTextsNeeded);
  if (texts.empty()) return info.Env().Undefined();
  return PromiseWork<Text>::Start(
      info.Env(), "latticeKeep", [texts] { return KeepText(texts[0], texts[1], texts[2]); },
      KeptToJs);
}

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
  const auto given = info[0].As<Napi::Uint8Array>();
  // A copy, because JavaScript may transfer the array meanwhile.
  std::vector<uint8_t> bytes(given.Data(), given.Data() + given.ByteLength());
  return PromiseWork<Image>::Start(
      env, "latticeDecodeImage",
      [bytes = std::move(bytes), limits] { return Decode(bytes, limits); },
      [](Napi::Env js, Image image) -> Napi::Value {
        auto object = Napi::Object::New(js);
        object.Set("width", image.width);
        object.Set("height", image.height);
        object.Set("data", ToBuffer(js, std::move(image.data)));
        return object;
      });
}

}  // namespace lattice
