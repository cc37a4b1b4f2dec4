#include "native/addon/js_gpu_readings.h"

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "native/engine/gpu_engine.h"

namespace lattice {
namespace {

// Null for what is not known.
template <typename T>
void Set(Napi::Object* object, const char* name, const std::optional<T>& value) {
  const Napi::Env env = object->Env();
  if (!value) {
    object->Set(name, env.Null());
  } else if constexpr (std::is_same_v<T, bool>) {
    object->Set(name, Napi::Boolean::New(env, *value));
  } else {
    object->Set(name, Napi::Number::New(env, static_cast<double>(*value)));
  }
}

Napi::Object ToGpuReading(Napi::Env env, const GpuReading& reading) {
  const auto& [identity, figures, age_ms, reason] = reading;
  auto slowed_by = Napi::Array::New(env);
  for (uint32_t i = 0; i < figures.slowed_by.size(); ++i) slowed_by.Set(i, figures.slowed_by[i]);
  auto object = Napi::Object::New(env);
  object.Set("index", identity.index);
  object.Set("name", identity.name);
  object.Set("uuid", identity.uuid);
  object.Set("busId", identity.bus_id);
  Set(&object, "numaNode",
      identity.numa_node < 0 ? std::nullopt : std::optional<int>(identity.numa_node));
  Set(&object, "memoryTotal", figures.memory_total);
  Set(&object, "memoryUsed", figures.memory_used);
  Set(&object, "utilisation", figures.utilisation);
  Set(&object, "temperature", figures.temperature);
  Set(&object, "power", figures.power);
  Set(&object, "powerLimit", figures.power_limit);
  Set(&object, "smClockMhz", figures.sm_clock);
  Set(&object, "uncorrectedErrors", figures.uncorrected_errors);
  Set(&object, "mig", figures.mig);
  object.Set("slowedBy", slowed_by);
  Set(&object, "ageMs", age_ms);
  object.Set("reason", reason.empty() ? env.Null() : Napi::Value(Napi::String::New(env, reason)));
  return object;
}

}  // namespace

Napi::Object ToGpuReadings(Napi::Env env, const Result<GpuReading>& reading) {
  auto gpus = Napi::Array::New(env);
  if (reading.ok()) gpus.Set(uint32_t{0}, ToGpuReading(env, *reading));
  auto object = Napi::Object::New(env);
  object.Set("gpus", gpus);
  object.Set("missing", reading.ok()
                            ? env.Null()
                            : Napi::Value(Napi::String::New(env, reading.status().message())));
  return object;
}

Result<GpuReading> LatestGpuReading() {
  // Never destroyed: its thread may hang in a driver when the process ends.
  static const auto* monitor = new GpuMonitor({.identify = []() -> Result<GpuIdentity> {
    auto gpus = IdentifyUsableGpus();
    if (!gpus.ok()) return gpus.status();
    return std::move(gpus->front());
  }});
  return monitor->Latest();
}

}  // namespace lattice
