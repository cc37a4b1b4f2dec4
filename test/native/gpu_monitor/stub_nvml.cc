// The C functions of the library, by NVIDIA's documentation of it.
#include "test/native/gpu_monitor/stub_nvml.h"

#include <chrono>
#include <cstring>
#include <thread>

#define STUB_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using lattice::StubFigure;
using lattice::StubGpu;
using lattice::StubNvml;

StubNvml& Stub() {
  static StubNvml stub;
  return stub;
}

void WaitWhileHanging() {
  ++Stub().hanging;
  while (Stub().hangs) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  --Stub().hanging;
}

// The return code of a figure; 0 after its value was set.
template <typename Value>
int Answer(void* device, StubFigure figure, Value* value, unsigned long long answer) {
  WaitWhileHanging();
  auto& gpu = *static_cast<StubGpu*>(device);
  ++gpu.asked;
  const int code = gpu.codes[figure];
  if (code == 0) *value = static_cast<Value>(answer);
  return code;
}

}  // namespace

STUB_EXPORT StubNvml* StubNvmlState() { return &Stub(); }

STUB_EXPORT int nvmlInit_v2() {
  WaitWhileHanging();
  if (Stub().init_code == 0) ++Stub().inits;
  return Stub().init_code;
}

STUB_EXPORT int nvmlShutdown() {
  ++Stub().shutdowns;
  return 0;
}

#ifndef STUB_NVML_ANCIENT
STUB_EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  WaitWhileHanging();
  for (size_t i = 0; i < lattice::kStubBusIds.size(); ++i) {
    if (std::strcmp(bus_id, lattice::kStubBusIds[i]) != 0) continue;
    *device = &Stub().gpus[i];
    return Stub().gpus[i].find_code;
  }
  return 6;  // not found
}
#endif

STUB_EXPORT int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* memory) {
  const auto& gpu = *static_cast<StubGpu*>(device);
  unsigned long long used = 0;
  const int code = Answer(device, lattice::kStubMemory, &used,
                          static_cast<unsigned long long>(gpu.used_mib) << 20);
  if (code != 0) return code;
  memory[0] = static_cast<unsigned long long>(lattice::kStubTotalMib) << 20;
  memory[1] = memory[0] - used;
  memory[2] = used;
  return 0;
}

STUB_EXPORT int nvmlDeviceGetUtilizationRates(void* device, unsigned* rates) {
  rates[1] = 99;
  return Answer(device, lattice::kStubUtilisation, rates,
                static_cast<StubGpu*>(device)->utilisation);
}

STUB_EXPORT int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* value) {
  if (sensor != 0) return 2;
  return Answer(device, lattice::kStubTemperature, value,
                static_cast<StubGpu*>(device)->temperature);
}

STUB_EXPORT int nvmlDeviceGetPowerUsage(void* device, unsigned* value) {
  return Answer(device, lattice::kStubPower, value, static_cast<StubGpu*>(device)->milliwatts);
}

STUB_EXPORT int nvmlDeviceGetClockInfo(void* device, int clock, unsigned* value) {
  if (clock != 1) return 2;
  return Answer(device, lattice::kStubClock, value, static_cast<StubGpu*>(device)->clock);
}

STUB_EXPORT int nvmlDeviceGetTotalEccErrors(void* device, int kind, int since,
                                            unsigned long long* value) {
  if (kind != 1 || since != 0) return 2;
  return Answer(device, lattice::kStubErrors, value, static_cast<StubGpu*>(device)->errors);
}

#ifdef STUB_NVML_OLD
#define STUB_SLOWDOWNS nvmlDeviceGetCurrentClocksThrottleReasons
#else
#define STUB_SLOWDOWNS nvmlDeviceGetCurrentClocksEventReasons

STUB_EXPORT const char* nvmlErrorString(int code) {
  switch (code) {
    case lattice::kStubGpuIsLost:
      return "GPU is lost";
    case lattice::kStubMismatch:
      return "Driver/library version mismatch";
    default:
      return "Unknown Error";
  }
}

STUB_EXPORT int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* value) {
  return Answer(device, lattice::kStubPowerLimit, value, lattice::kStubLimitMilliwatts);
}

STUB_EXPORT int nvmlDeviceGetMigMode(void* device, unsigned* now, unsigned* next) {
  *next = 0;
  return Answer(device, lattice::kStubMig, now, static_cast<StubGpu*>(device)->mig);
}
#endif

STUB_EXPORT int STUB_SLOWDOWNS(void* device, unsigned long long* value) {
  return Answer(device, lattice::kStubSlowdowns, value, static_cast<StubGpu*>(device)->slowdowns);
}
