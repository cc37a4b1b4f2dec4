#include "native/addon/result_arguments.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

namespace lattice {
namespace {

// As ResultField, FileField and DIGEST_FIELDS of src/native/contract.ts lay them out.
constexpr size_t kFileAt = 18;
constexpr size_t kFileFields = 10;
constexpr size_t kDigestAt = 6;  // index of the digest within the file fields
constexpr size_t kStride = kFileAt + kFileFields;

// Returns an empty value when the environment is ending: no JavaScript value can be made then.
Napi::Value ToBoxes(Napi::Env env, const std::vector<Detection>& boxes) {
  constexpr size_t kFloats = sizeof(Detection) / sizeof(float);
  auto array = Napi::Float32Array::New(env, boxes.size() * kFloats);
  if (!array.IsEmpty()) std::memcpy(array.Data(), boxes.data(), boxes.size() * sizeof(Detection));
  return array;
}

static_assert(sizeof(int64_t) == sizeof(double));

// Writes the fields in the order of ResultField (src/native/contract.ts). The numbers of a file are
// written as 64-bit integers, because a double does not hold them exactly.
void WriteMeta(const TaskResult& result, double* out) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const StageTimes& times = result.times;
  const PicturePosition position = result.position.value_or(PicturePosition{kNone, kNone});
  const std::array<double, kFileAt> fields = {static_cast<double>(result.id),
                                              static_cast<double>(result.status.code()),
                                              static_cast<double>(result.width),
                                              static_cast<double>(result.height),
                                              times.queue,
                                              times.decode,
                                              times.preprocess,
                                              times.inference,
                                              times.postprocess,
                                              static_cast<double>(result.batch),
                                              result.detections.truncated ? 1.0 : 0.0,
                                              result.total_ms,
                                              static_cast<double>(result.grid.columns),
                                              static_cast<double>(result.grid.rows),
                                              static_cast<double>(result.grid.width),
                                              static_cast<double>(result.grid.height),
                                              position.latitude,
                                              position.longitude};
  std::memcpy(out, fields.data(), sizeof(fields));
  const FileStamp& stamp = result.file.stamp;
  std::array<int64_t, kFileFields> file = {stamp.size,
                                           stamp.modified_ns,
                                           stamp.changed_ns,
                                           static_cast<int64_t>(stamp.device),
                                           static_cast<int64_t>(stamp.inode),
                                           result.file.read_ns};
  for (size_t digits = 0; digits < result.file.sha256.size(); digits += 16) {
    file[kDigestAt + digits / 16] =
        static_cast<int64_t>(std::stoull(result.file.sha256.substr(digits, 16), nullptr, 16));
  }
  std::memcpy(out + kFileAt, file.data(), sizeof(file));
}

// Both are empty when the environment is ending.
Napi::Value ToLook(Napi::Env env, const TaskResult& result) {
  const auto& grey = result.look->grey;
  auto cells = Napi::Uint8Array::New(env, grey.size());
  auto object = Napi::Object::New(env);
  if (cells.IsEmpty() || object.IsEmpty()) return {};
  std::copy(grey.begin(), grey.end(), cells.Data());
  object.Set("grey", cells);
  object.Set("sharpness", static_cast<double>(result.look->sharpness));
  return object;
}

Napi::Value ToDescriptors(Napi::Env env, const TaskResult& result) {
  const size_t bytes = result.descriptors.size() * sizeof(BoxDescriptor);
  auto array = Napi::Uint8Array::New(env, bytes);
  if (!array.IsEmpty()) std::memcpy(array.Data(), result.descriptors.data(), bytes);
  return array;
}

// An array with what each result has or null; null where none has it. Empty when the environment is
// ending.
Napi::Value ToArray(Napi::Env env, const std::vector<TaskResult>& results,
                    Napi::Value (*convert)(Napi::Env, const TaskResult&),
                    bool (*has)(const TaskResult&)) {
  if (std::none_of(results.begin(), results.end(), has)) return env.Null();
  const auto array = Napi::Array::New(env, results.size());
  if (array.IsEmpty()) return array;
  for (uint32_t i = 0; i < results.size(); ++i) {
    const Napi::Value value = has(results[i]) ? convert(env, results[i]) : env.Null();
    if (value.IsEmpty() || napi_set_element(env, array, i, value) != napi_ok) return {};
  }
  return array;
}

bool HasLook(const TaskResult& result) { return result.look != nullptr; }
bool HasDescriptors(const TaskResult& result) { return !result.descriptors.empty(); }

}  // namespace

ResultArguments::ResultArguments(Napi::Env env)
    : no_boxes_(Napi::Reference<Napi::Float32Array>::New(Napi::Float32Array::New(env, 0), 1)) {}

Napi::Float64Array ResultArguments::MetaFor(Napi::Env env, size_t result_count) {
  if (capacity_ < result_count) {
    const size_t capacity = std::max<size_t>(256, 2 * result_count);
    const auto meta = Napi::Float64Array::New(env, kStride * capacity);
    if (meta.IsEmpty()) return meta;
    meta_ = Napi::Reference<Napi::Float64Array>::New(meta, 1);
    capacity_ = capacity;
  }
  return meta_.Value();
}

std::optional<std::array<napi_value, 5>> ResultArguments::Make(
    Napi::Env env, const std::vector<TaskResult>& results) {
  const auto count = static_cast<uint32_t>(results.size());
  auto meta = MetaFor(env, results.size());
  const auto boxes = Napi::Array::New(env, count);
  const auto messages = Napi::Array::New(env, count);
  const napi_value no_boxes = no_boxes_.Value();
  if (meta.IsEmpty() || boxes.IsEmpty() || messages.IsEmpty()) return std::nullopt;
  for (uint32_t i = 0; i < count; ++i) {
    const TaskResult& result = results[i];
    WriteMeta(result, meta.Data() + kStride * i);
    const bool empty = result.detections.boxes.empty();
    const napi_value rows = empty ? no_boxes : ToBoxes(env, result.detections.boxes);
    const napi_value message =
        result.status.ok() ? env.Null() : Napi::String::New(env, result.status.message());
    if (napi_set_element(env, boxes, i, rows) != napi_ok ||
        napi_set_element(env, messages, i, message) != napi_ok) {
      return std::nullopt;
    }
  }
  const Napi::Value looks = ToArray(env, results, ToLook, HasLook);
  const Napi::Value descriptors = ToArray(env, results, ToDescriptors, HasDescriptors);
  if (looks.IsEmpty() || descriptors.IsEmpty()) return std::nullopt;
  return std::array<napi_value, 5>{meta, boxes, messages, looks, descriptors};
}

}  // namespace lattice
