#include "native/addon/js_describe.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lattice {

Napi::Object ToModel(Napi::Env env, const LoadedModel& model) {
  const ModelInfo& info = model.info;
  auto names = Napi::Array::New(env, info.names.size());
  for (uint32_t i = 0; i < info.names.size(); ++i) names.Set(i, info.names[i]);
  auto rectangles = Napi::Array::New(env, info.rectangles.size());
  for (uint32_t i = 0; i < info.rectangles.size(); ++i) {
    auto rectangle = Napi::Object::New(env);
    rectangle.Set("width", info.rectangles[i].width);
    rectangle.Set("height", info.rectangles[i].height);
    rectangles.Set(i, rectangle);
  }
  auto without = Napi::Array::New(env, info.without.size());
  for (uint32_t i = 0; i < info.without.size(); ++i) without.Set(i, info.without[i]);
  auto metadata = Napi::Object::New(env);
  for (const auto& [key, text] : info.metadata) metadata.Set(key, text);
  auto object = Napi::Object::New(env);
  object.Set("modelId", model.id);
  object.Set("task", info.task);
  object.Set("names", names);
  object.Set("inputWidth", info.input_width);
  object.Set("inputHeight", info.input_height);
  object.Set("fixedBatch", info.fixed_batch);
  object.Set("rectangles", rectangles);
  object.Set("withoutRectangles", without);
  object.Set("device", info.device);
  object.Set("precision", info.precision);
  object.Set("memoryBytes", static_cast<double>(info.memory_bytes));
  object.Set("stride", info.stride);
  object.Set("metadata", metadata);
  return object;
}

Napi::Value ToSliceTimes(Napi::Env env, const SliceTimes& times) {
  if (times.batch == 0) return env.Null();
  auto object = Napi::Object::New(env);
  object.Set("batch", times.batch);
  object.Set("networkMs", times.network_ms);
  object.Set("copyMs", times.copy_ms);
  object.Set("letterboxMs", times.letterbox_ms);
  object.Set("boxesMs", times.boxes_ms);
  object.Set("sliceMs", times.slice_ms);
  object.Set("launchMs", times.launch_ms);
  object.Set("emptyMs", times.empty_ms);
  return object;
}

Napi::Object ToDecodeRoutes(Napi::Env env, const Core& core) {
  const std::vector<RouteStats> routes = core.decode_routes();
  const std::vector<std::string> reasons = core.missing_decode_routes();
  auto array = Napi::Array::New(env, routes.size());
  for (uint32_t i = 0; i < routes.size(); ++i) {
    auto object = Napi::Object::New(env);
    object.Set("name", routes[i].name);
    object.Set("resource", routes[i].resource);
    object.Set("decoded", static_cast<double>(routes[i].decoded));
    object.Set("refused", static_cast<double>(routes[i].refused));
    object.Set("megapixelMs", routes[i].megapixel_ms);
    object.Set("lost", routes[i].lost);
    array.Set(i, object);
  }
  auto missing = Napi::Array::New(env, reasons.size());
  for (uint32_t i = 0; i < reasons.size(); ++i) missing.Set(i, reasons[i]);
  auto described = Napi::Object::New(env);
  described.Set("routes", array);
  described.Set("missing", missing);
  return described;
}

Napi::Object ToStats(Napi::Env env, const Core& core) {
  const SchedulerStats stats = core.stats();
  auto object = Napi::Object::New(env);
  object.Set("queuedSync", static_cast<double>(stats.queued_sync));
  object.Set("queuedAsync", static_cast<double>(stats.queued_async));
  object.Set("decoding", static_cast<double>(stats.decoding));
  object.Set("inferring", static_cast<double>(stats.inferring));
  object.Set("heldBytes", static_cast<double>(stats.held_bytes));
  object.Set("heldSyncBytes", static_cast<double>(stats.held_sync_bytes));
  object.Set("completed", static_cast<double>(stats.completed));
  object.Set("failed", static_cast<double>(stats.failed));
  object.Set("cancelled", static_cast<double>(stats.cancelled));
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
