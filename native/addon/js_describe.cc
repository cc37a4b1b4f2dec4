#include "native/addon/js_describe.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lattice {

Napi::Array ToNames(Napi::Env env, const std::vector<std::string>& names) {
  auto array = Napi::Array::New(env, names.size());
  for (uint32_t i = 0; i < names.size(); ++i) array.Set(i, names[i]);
  return array;
}

Napi::Object ToMetadata(Napi::Env env, const std::map<std::string, std::string>& metadata) {
  auto object = Napi::Object::New(env);
  for (const auto& [key, text] : metadata) object.Set(key, text);
  return object;
}

namespace {

// HeadLayout of src/native/contract.ts.
const char* NameOf(HeadLayout layout) {
  switch (layout) {
    case HeadLayout::kScales:
      return "scales";
    case HeadLayout::kFinal:
      return "final";
    case HeadLayout::kRows:
      break;
  }
  return "rows";
}

// Null for none.
Napi::Value ToTextOrNull(Napi::Env env, const std::string& text) {
  return text.empty() ? env.Null() : Napi::Value(Napi::String::New(env, text));
}

Napi::Array ToEngines(Napi::Env env, const std::vector<BatchEngine>& engines) {
  auto array = Napi::Array::New(env, engines.size());
  for (uint32_t i = 0; i < engines.size(); ++i) {
    const BatchEngine& engine = engines[i];
    auto object = Napi::Object::New(env);
    object.Set("batch", engine.batch);
    object.Set("isLoaded", engine.is_loaded);
    object.Set("file", ToTextOrNull(env, engine.file));
    array.Set(i, object);
  }
  return array;
}

}  // namespace

Napi::Object ToModel(Napi::Env env, const LoadedModel& model) {
  const ModelInfo& info = model.info;
  auto rectangles = Napi::Array::New(env, info.rectangles.size());
  for (uint32_t i = 0; i < info.rectangles.size(); ++i) {
    auto rectangle = Napi::Object::New(env);
    rectangle.Set("width", info.rectangles[i].width);
    rectangle.Set("height", info.rectangles[i].height);
    rectangles.Set(i, rectangle);
  }
  auto object = Napi::Object::New(env);
  object.Set("modelId", model.id);
  object.Set("task", info.task);
  object.Set("names", ToNames(env, info.names));
  object.Set("inputWidth", info.input_width);
  object.Set("inputHeight", info.input_height);
  object.Set("fixedBatch", info.fixed_batch);
  object.Set("layout", NameOf(info.head.layout));
  object.Set("rectangles", rectangles);
  object.Set("without", ToNames(env, info.without));
  object.Set("sha256", info.sha256);
  object.Set("device", info.device);
  object.Set("precision", info.precision);
  object.Set("memoryBytes", static_cast<double>(model.batches.memory_bytes));
  object.Set("engines", ToEngines(env, model.batches.engines));
  object.Set("keptFile", ToTextOrNull(env, info.kept_file));
  object.Set("wasKept", info.was_kept);
  object.Set("replaced", ToNames(env, info.replaced));
  object.Set("stride", info.stride);
  object.Set("metadata", ToMetadata(env, info.metadata));
  return object;
}

Napi::Object ToDecodeStats(Napi::Env env, const Core& core) {
  const SchedulerStats stats = core.stats();
  const Status engines = core.jpeg_engines();
  auto object = Napi::Object::New(env);
  object.Set("cpu", static_cast<double>(stats.decoded_by_cpu));
  object.Set("hardware", static_cast<double>(stats.decoded_by_hardware));
  object.Set("retries", static_cast<double>(stats.decode_retries));
  object.Set("hardwareMissing",
             engines.ok() ? env.Null() : Napi::Value(Napi::String::New(env, engines.message())));
  return object;
}

Napi::Object ToStats(Napi::Env env, const Core& core) {
  const SchedulerStats stats = core.stats();
  auto object = Napi::Object::New(env);
  object.Set("queuedSync", static_cast<double>(stats.queued_sync));
  object.Set("queuedAsync", static_cast<double>(stats.queued_async));
  object.Set("decoding", static_cast<double>(stats.decoding));
  object.Set("inferring", static_cast<double>(stats.inferring));
  object.Set("heldBytes", static_cast<double>(stats.held_bytes));
  object.Set("syncBatches", core.sync_batches());
  object.Set("lookAhead", core.look_ahead());
  object.Set("readAhead", core.read_ahead());
  auto hanging = Napi::Array::New(env);
  for (const size_t root : core.hanging_roots()) {
    hanging.Set(hanging.Length(), static_cast<double>(root));
  }
  object.Set("hangingRoots", hanging);
  object.Set("buildShare", core.build_share());
  return object;
}

}  // namespace lattice
