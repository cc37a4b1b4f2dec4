// The functions of NVIDIA's management library, by its documentation, for the simulated GPUs of
// this process. Memory and utilisation are what the simulated runtime has given out and worked; the
// rest follows from them.
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>

#include "test/native/simulated_cuda/simulated_gpus.h"

#define SIMULATED_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using lattice::simulated::GpuSight;
using lattice::simulated::kFirstPciBus;
using lattice::simulated::LookAt;

using Clock = std::chrono::steady_clock;
using Count = unsigned long long;  // NOLINT(google-runtime-int): the library's own type

constexpr int kSuccess = 0;
constexpr int kInvalidArgument = 2;
constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;
constexpr int kGpuIsLost = 15;

constexpr unsigned kIdleCelsius = 35;
constexpr unsigned kIdleMilliwatts = 70'000;
constexpr unsigned kMostMilliwatts = 700'000;
constexpr unsigned kIdleMHz = 345;
constexpr unsigned kBusyMHz = 1'980;
constexpr Count kIdleReason = 1;

// Shares are of the time since the last look, but for looks that follow at once.
constexpr auto kShortest = std::chrono::milliseconds(100);

}  // namespace

struct nvmlDevice_st {
  int gpu = 0;
  Clock::time_point looked;
  std::chrono::nanoseconds busy{};
  unsigned percent = 0;
};

namespace {

std::mutex mutex;

nvmlDevice_st* DeviceOf(int gpu) {
  static auto& devices = *new std::map<int, nvmlDevice_st>();
  const auto [place, added] = devices.try_emplace(gpu);
  if (added) place->second = {gpu, Clock::now(), LookAt(gpu)->busy, 0};
  return &place->second;
}

unsigned Percent(nvmlDevice_st* device, const GpuSight& sight) {
  const std::lock_guard lock(mutex);
  const auto now = Clock::now();
  if (now - device->looked < kShortest) return device->percent;
  // Other GPUs may have been plugged in meanwhile.
  const auto worked = std::max(sight.busy - device->busy, std::chrono::nanoseconds(0));
  device->percent = static_cast<unsigned>(std::min<Count>(
      100, static_cast<Count>(100 * worked.count() / (now - device->looked).count())));
  device->looked = now;
  device->busy = sight.busy;
  return device->percent;
}

template <typename Value, typename Of>
int Tell(nvmlDevice_st* device, Value* value, Of of) {
  const std::optional<GpuSight> sight = LookAt(device->gpu);
  if (!sight) return kGpuIsLost;
  *value = static_cast<Value>(of(*sight, Percent(device, *sight)));
  return kSuccess;
}

}  // namespace

SIMULATED_EXPORT int nvmlInit_v2() { return kSuccess; }

SIMULATED_EXPORT int nvmlShutdown() { return kSuccess; }

SIMULATED_EXPORT const char* nvmlErrorString(int code) {
  return code == kGpuIsLost ? "GPU is lost" : code == kNotFound ? "Not Found" : "Unknown Error";
}

SIMULATED_EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, nvmlDevice_st** device) {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned place = 0;
  if (std::sscanf(bus_id, "%x:%x:%x.0", &domain, &bus, &place) != 3) return kInvalidArgument;
  const int gpu = static_cast<int>(bus) - kFirstPciBus;
  if (domain != 0 || place != 0 || !LookAt(gpu)) return kNotFound;
  const std::lock_guard lock(mutex);
  *device = DeviceOf(gpu);
  return kSuccess;
}

SIMULATED_EXPORT int nvmlDeviceGetMemoryInfo(nvmlDevice_st* device, Count* memory) {
  const std::optional<GpuSight> sight = LookAt(device->gpu);
  if (!sight) return kGpuIsLost;
  memory[0] = sight->kind.memory_bytes;
  memory[1] = sight->kind.memory_bytes - sight->used_bytes;
  memory[2] = sight->used_bytes;
  return kSuccess;
}

SIMULATED_EXPORT int nvmlDeviceGetUtilizationRates(nvmlDevice_st* device, unsigned* rates) {
  rates[1] = 0;
  return Tell(device, rates, [](const GpuSight&, unsigned percent) { return percent; });
}

SIMULATED_EXPORT int nvmlDeviceGetTemperature(nvmlDevice_st* device, int sensor, unsigned* value) {
  if (sensor != 0) return kInvalidArgument;
  return Tell(device, value,
              [](const GpuSight&, unsigned percent) { return kIdleCelsius + percent / 2; });
}

SIMULATED_EXPORT int nvmlDeviceGetPowerUsage(nvmlDevice_st* device, unsigned* value) {
  return Tell(device, value, [](const GpuSight&, unsigned percent) {
    return kIdleMilliwatts + percent * ((kMostMilliwatts - kIdleMilliwatts) / 100);
  });
}

SIMULATED_EXPORT int nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_st* device, unsigned* value) {
  return Tell(device, value, [](const GpuSight&, unsigned) { return kMostMilliwatts; });
}

SIMULATED_EXPORT int nvmlDeviceGetClockInfo(nvmlDevice_st* device, int clock, unsigned* value) {
  if (clock != 1) return kInvalidArgument;
  return Tell(device, value,
              [](const GpuSight&, unsigned percent) { return percent > 0 ? kBusyMHz : kIdleMHz; });
}

SIMULATED_EXPORT int nvmlDeviceGetTotalEccErrors(nvmlDevice_st* device, int kind, int since,
                                                 Count* value) {
  if (kind != 1 || since != 0) return kInvalidArgument;
  return Tell(device, value, [](const GpuSight& sight, unsigned) {
    return sight.fault == cudaErrorECCUncorrectable ? 1 : 0;
  });
}

SIMULATED_EXPORT int nvmlDeviceGetMigMode(nvmlDevice_st*, unsigned*, unsigned*) {
  return kNotSupported;
}

SIMULATED_EXPORT int nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_st* device, Count* value) {
  return Tell(device, value, [](const GpuSight&, unsigned percent) {
    return percent > 0 ? Count{0} : kIdleReason;
  });
}
