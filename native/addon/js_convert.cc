#include "native/addon/js_convert.h"

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

namespace lattice {
namespace {

constexpr double kMaxSafeInteger = 9007199254740991.0;
constexpr int kMostGpuBatch = 32;

// Names in the order of StatusCode.
constexpr std::array<const char*, 20> kCodeNames = {"ok",
                                                    "cancelled",
                                                    "deadline_exceeded",
                                                    "image_not_found",
                                                    "path_not_allowed",
                                                    "not_a_regular_file",
                                                    "image_unreadable",
                                                    "image_too_large",
                                                    "unsupported_image_format",
                                                    "invalid_image",
                                                    "input_changed",
                                                    "volume_unavailable",
                                                    "invalid_model",
                                                    "unknown_model",
                                                    "detection_failed",
                                                    "gpu_unavailable",
                                                    "gpu_lost",
                                                    "overloaded",
                                                    "shutting_down",
                                                    "internal_error"};
static_assert(static_cast<size_t>(StatusCode::kInternalError) + 1 == kCodeNames.size());

// Reads properties of one object; after the first failure an exception is pending and every read
// fails.
class Properties {
 public:
  Properties(const Napi::Value& value, std::string where)
      : env_(value.Env()), where_(std::move(where)) {
    if (!value.IsObject()) {
      Fail("", "an object");
    } else {
      object_ = value.As<Napi::Object>();
    }
  }

  bool ok() const { return ok_; }

  Napi::Value Get(const char* name) {
    napi_value value = nullptr;
    if (ok_ && napi_get_named_property(env_, object_, name, &value) != napi_ok) ok_ = false;
    return ok_ ? Napi::Value(env_, value) : env_.Undefined();
  }

  void Read(const char* name, std::string& out) {
    const Napi::Value value = Get(name);
    if (!value.IsString()) return Fail(name, "a string");
    out = value.As<Napi::String>().Utf8Value();
  }

  template <typename Number>
  void Read(const char* name, double least, double most, Number& out) {
    const Napi::Value value = Get(name);
    const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : NAN;
    const bool whole = std::is_integral_v<Number>;
    if (!(number >= least && number <= most) || (whole && number != std::floor(number))) {
      return Fail(name, whole ? "an integer in range" : "a number in range");
    }
    out = static_cast<Number>(number);
  }

  void Read(const char* name, bool& out) {
    const Napi::Value value = Get(name);
    if (!value.IsBoolean()) return Fail(name, "a boolean");
    out = value.As<Napi::Boolean>().Value();
  }

  // An exception is pending already.
  void Stop() { ok_ = false; }

  void Fail(const char* name, const char* needed) {
    if (!ok_) return;
    ok_ = false;
    if (env_.IsExceptionPending()) return;  // of a getter or a proxy: it says more
    const std::string dot = *name == '\0' ? "" : ".";
    Napi::TypeError::New(env_, where_ + dot + name + " must be " + needed)
        .ThrowAsJavaScriptException();
  }

 private:
  Napi::Env env_;
  Napi::Object object_;
  std::string where_;
  bool ok_ = true;
};

void ReadStrings(Properties& properties, const char* name, std::vector<std::string>& out) {
  const Napi::Value value = properties.Get(name);
  if (!value.IsArray()) return properties.Fail(name, "an array of strings");
  const auto array = value.As<Napi::Array>();
  for (uint32_t i = 0; i < array.Length(); ++i) {
    const Napi::Value text = array.Get(i);
    if (!text.IsString()) return properties.Fail(name, "an array of strings");
    out.push_back(text.As<Napi::String>().Utf8Value());
  }
}

bool IsBytes(const Napi::Value& value) {
  return value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == napi_uint8_array;
}

void ParsePixels(const Napi::Value& value, Properties& task, std::optional<Image>& image) {
  Properties pixels(value, "task.pixels");
  int width = 0;
  int height = 0;
  pixels.Read("width", 1, 1 << 20, width);
  pixels.Read("height", 1, 1 << 20, height);
  const Napi::Value data = pixels.Get("data");
  if (!pixels.ok()) return task.Stop();
  const size_t needed = size_t{3} * static_cast<size_t>(width) * static_cast<size_t>(height);
  if (!IsBytes(data) || data.As<Napi::TypedArray>().ByteLength() != needed) {
    return task.Fail("pixels.data", "a Uint8Array of 3 * width * height bytes");
  }
  const auto bytes = data.As<Napi::Uint8Array>();
  image.emplace(Image{width, height, {bytes.Data(), bytes.Data() + needed}});
}

// Reads the picture of a task without a path.
void ParseBrought(Properties& properties, const HoldBytes& hold_bytes, ImageTask& task) {
  const Napi::Value pixels = properties.Get("pixels");
  if (!pixels.IsUndefined()) return ParsePixels(pixels, properties, task.pixels);
  const Napi::Value bytes = properties.Get("bytes");
  if (!IsBytes(bytes)) return properties.Fail("path", "a string, or null with bytes or pixels");
  if (properties.ok()) task.sent = hold_bytes(bytes.As<Napi::Uint8Array>());
  if (task.sent == nullptr) properties.Fail("bytes", "an array that can be kept");
}

void ParseRectangles(const Napi::Value& value, Properties& options,
                     std::optional<std::vector<InputSize>>& rectangles) {
  rectangles.emplace();
  if (!value.IsArray()) return options.Fail("rectangles", "an array of {width, height}");
  const auto array = value.As<Napi::Array>();
  for (uint32_t i = 0; i < array.Length(); ++i) {
    Properties rectangle(array.Get(i), "options.rectangles[" + std::to_string(i) + "]");
    InputSize& size = rectangles->emplace_back();
    rectangle.Read("width", 1, 1 << 14, size.width);
    rectangle.Read("height", 1, 1 << 14, size.height);
    if (!rectangle.ok()) return options.Stop();
  }
}

constexpr char kBatchesNeeded[] = "an ascending array of integers from 1 to 32";

// False where it is none.
bool ReadBatches(const Napi::Value& value, std::vector<int>& batches) {
  batches.clear();
  if (!value.IsArray()) return false;
  const auto array = value.As<Napi::Array>();
  for (uint32_t i = 0; i < array.Length(); ++i) {
    const Napi::Value batch = array.Get(i);
    const double number = batch.IsNumber() ? batch.As<Napi::Number>().DoubleValue() : NAN;
    const int before = batches.empty() ? 0 : batches.back();
    if (!(number > before && number <= kMostGpuBatch) || number != std::floor(number)) return false;
    batches.push_back(static_cast<int>(number));
  }
  return !batches.empty();
}

void ParseClassIds(const Napi::Value& value, Properties& task, std::vector<int>& ids) {
  if (value.IsNull()) return;
  if (!value.IsArray()) return task.Fail("classIds", "null or an array of integers");
  const auto array = value.As<Napi::Array>();
  for (uint32_t i = 0; i < array.Length(); ++i) {
    const Napi::Value id = array.Get(i);
    if (!id.IsNumber()) return task.Fail("classIds", "null or an array of integers");
    ids.push_back(id.As<Napi::Number>().Int32Value());
  }
  // An empty list means every class to the core, but no class to the caller: no class has the id
  // -1.
  if (ids.empty()) ids.push_back(-1);
}

void ParseKind(Properties& properties, ImageTask& task) {
  std::string kind;
  properties.Read("kind", kind);
  if (kind == "sync") {
    task.work_class = WorkClass::kSync;
  } else if (kind == "async") {
    task.work_class = WorkClass::kAsync;
  } else {
    properties.Fail("kind", "'sync' or 'async'");
  }
}

// 'off', 'auto', or an object with columns and rows, or with a size.
void ParseTiles(const Napi::Value& value, Properties& task, std::optional<TileSpec>& tiles) {
  if (value.IsUndefined()) return;
  if (value.IsString()) {
    const std::string word = value.As<Napi::String>().Utf8Value();
    if (word == "off") return;
    if (word != "auto") return task.Fail("tiles", "'off', 'auto' or an object");
    tiles.emplace();
    return;
  }
  Properties grid(value, "task.tiles");
  tiles.emplace();
  if (!grid.Get("size").IsUndefined()) {
    grid.Read("size", 1, 1 << 20, tiles->size);
  } else {
    grid.Read("columns", 1, kMostTiles, tiles->columns);
    grid.Read("rows", 1, kMostTiles, tiles->rows);
    if (tiles->columns * tiles->rows > kMostTiles) grid.Fail("rows", "fewer");
  }
  grid.Read("overlap", 0, 0.5, tiles->overlap);
  if (!grid.ok()) task.Stop();
}

bool ParseTask(const Napi::Value& value, const FindModel& find_model, const HoldBytes& hold_bytes,
               ImageTask& task) {
  Properties properties(value, "task");
  properties.Read("id", 1, kMaxSafeInteger, task.id);
  ParseKind(properties, task);
  uint32_t model = 0;
  properties.Read("modelId", 0, UINT32_MAX, model);
  properties.Read("priority", -1e9, 1e9, task.priority);
  properties.Read("deadlineMs", 0, 1e12, task.deadline_ms);
  properties.Read("confidence", 0, 1, task.options.confidence);
  properties.Read("iou", 0, 1, task.options.iou);
  properties.Read("maxDetections", 0, 1e6, task.options.max_detections);
  ParseClassIds(properties.Get("classIds"), properties, task.options.class_ids);
  if (!properties.Get("everyRow").IsUndefined()) {
    properties.Read("everyRow", task.options.every_row);
  }
  ParseTiles(properties.Get("tiles"), properties, task.tiles);
  if (!properties.Get("digest").IsUndefined()) properties.Read("digest", task.digest);
  if (!properties.Get("look").IsUndefined()) properties.Read("look", task.look);
  if (!properties.Get("descriptorsAbove").IsUndefined()) {
    properties.Read("descriptorsAbove", 0, 1, task.descriptors_above.emplace());
  }
  if (properties.ok()) task.engine = find_model(model);
  if (properties.Get("path").IsNull()) {
    ParseBrought(properties, hold_bytes, task);
  } else {
    properties.Read("path", task.path);
  }
  return properties.ok();
}

bool FailArray(Napi::Env env, const char* needed) {
  if (env.IsExceptionPending()) return false;
  Napi::TypeError::New(env, needed).ThrowAsJavaScriptException();
  return false;
}

void ReadPrecision(Properties& properties, std::string& precision) {
  properties.Read("precision", precision);
  if (precision != "auto" && precision != "f32" && precision != "bf16") {
    properties.Fail("precision", "'auto', 'f32' or 'bf16'");
  }
}

}  // namespace

Napi::Value ToError(Napi::Env env, const Status& status) {
  const Napi::Object error = Napi::Error::New(env, status.message()).Value();
  error.Set("code", kCodeNames[static_cast<size_t>(status.code())]);
  return error;
}

bool ParseLoadOptions(const Napi::Value& value, ModelToLoad& model) {
  Properties properties(value, "how to load");
  if (!properties.Get("eightBitPath").IsUndefined()) {
    properties.Read("eightBitPath", model.eight_bit);
  }
  if (!properties.Get("precision").IsUndefined()) ReadPrecision(properties, model.precision);
  if (!properties.Get("anew").IsUndefined()) properties.Read("anew", model.anew);
  return properties.ok();
}

bool ParseCoreOptions(const Napi::Value& value, CoreOptions& options) {
  Properties properties(value, "options");
  ReadStrings(properties, "roots", options.roots);
  properties.Read("device", options.device);
  if (options.device != "cpu" && options.device != "cuda") {
    properties.Fail("device", "'cpu' or 'cuda'");
  }
  const Napi::Value batches = properties.Get("gpuBatches");
  if (!batches.IsUndefined() && !ReadBatches(batches, options.gpu_batches)) {
    properties.Fail("gpuBatches", kBatchesNeeded);
  }
  ReadPrecision(properties, options.precision);
  properties.Read("threads", 1, 1024, options.threads);
  properties.Read("asyncYields", options.async_yields);
  if (!properties.Get("hardwareDecode").IsUndefined()) {
    properties.Read("hardwareDecode", options.hardware_decode);
  }
  if (!properties.Get("rectangles").IsUndefined()) {
    ParseRectangles(properties.Get("rectangles"), properties, options.rectangles);
  }
  properties.Read("engineCache", options.engine_cache);
  if (!properties.Get("keptBytes").IsUndefined()) {
    properties.Read("keptBytes", 0, kMaxSafeInteger, options.most_kept_bytes);
  }
  properties.Read("maxFileBytes", 1, kMaxSafeInteger, options.max_file_bytes);
  properties.Read("maxPixels", 1, kMaxSafeInteger, options.max_pixels);
  properties.Read("maxSide", 1, 1 << 20, options.max_side);
  if (!properties.Get("lookAheadBytes").IsUndefined()) {
    properties.Read("lookAheadBytes", 1, kMaxSafeInteger, options.look_ahead_bytes);
  }
  properties.Read("crashMarkerPath", options.crash_marker_path);
  if (!properties.Get("abortOnPathSuffix").IsUndefined()) {
    properties.Read("abortOnPathSuffix", options.abort_on_path_suffix);
  }
  return properties.ok();
}

bool ParseTasks(const Napi::Value& value, const FindModel& find_model, const HoldBytes& hold_bytes,
                std::vector<ImageTask>& tasks) {
  if (!value.IsArray()) return FailArray(value.Env(), "tasks must be an array");
  const auto array = value.As<Napi::Array>();
  const uint32_t count = array.Length();
  tasks.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    const Napi::HandleScope scope(value.Env());
    if (!ParseTask(array.Get(i), find_model, hold_bytes, tasks[i])) return false;
  }
  return true;
}

bool ParseBatches(const Napi::Value& value, std::vector<int>& batches) {
  return ReadBatches(value, batches) ||
         FailArray(value.Env(), (std::string("batches must be ") + kBatchesNeeded).c_str());
}

bool ParseIds(const Napi::Value& value, std::vector<uint64_t>& ids) {
  constexpr const char* kNeeded = "ids must be an array of task ids";
  if (!value.IsArray()) return FailArray(value.Env(), kNeeded);
  const auto array = value.As<Napi::Array>();
  for (uint32_t i = 0; i < array.Length(); ++i) {
    const Napi::Value id = array.Get(i);
    const double number = id.IsNumber() ? id.As<Napi::Number>().DoubleValue() : NAN;
    if (!(number >= 1 && number <= kMaxSafeInteger)) return FailArray(value.Env(), kNeeded);
    ids.push_back(static_cast<uint64_t>(number));
  }
  return true;
}

}  // namespace lattice
