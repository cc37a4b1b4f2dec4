#include "native/gpu_monitor/nvml_library.h"

#include <dlfcn.h>

#include <array>
#include <utility>

namespace lattice {
namespace {

// The library's return codes that are looked at.
constexpr int kSuccess = 0;
constexpr int kNotSupported = 3;
constexpr int kNoPermission = 4;
constexpr int kFunctionNotFound = 13;
constexpr int kGpuIsLost = 15;
constexpr int kResetRequired = 16;
constexpr int kNoData = 21;

constexpr int kDieSensor = 0;
constexpr int kSmClock = 1;
constexpr int kUncorrected = 1;
constexpr int kSinceDriverLoad = 0;

struct Memory {
  unsigned long long total = 0;  // NOLINT(google-runtime-int): the library's own type
  unsigned long long free = 0;   // NOLINT(google-runtime-int)
  unsigned long long used = 0;   // NOLINT(google-runtime-int)
};

struct Utilisation {
  unsigned gpu = 0;
  unsigned memory = 0;
};

using Count = unsigned long long;  // NOLINT(google-runtime-int)

struct Slowdown {
  Count bit;
  const char* name;
};
constexpr std::array<Slowdown, 5> kSlowdowns = {{{0x04, "power_cap"},
                                                 {0x08, "hardware_slowdown"},
                                                 {0x20, "thermal"},
                                                 {0x40, "hardware_thermal"},
                                                 {0x80, "power_brake"}}};

bool IsGone(int code) { return code == kGpuIsLost || code == kResetRequired; }

// Nothing to tell anybody: this GPU, driver or mode of use has no such figure.
bool IsAbsent(int code) {
  return code == kNotSupported || code == kNoPermission || code == kFunctionNotFound ||
         code == kNoData;
}

template <typename Function>
void Bind(void* library, const char* symbol, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, symbol));
}

}  // namespace

struct NvmlLibrary::Functions {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*find)(const char*, NvmlDevice*) = nullptr;
  int (*memory)(NvmlDevice, Memory*) = nullptr;
  int (*utilisation)(NvmlDevice, Utilisation*) = nullptr;
  int (*temperature)(NvmlDevice, int, unsigned*) = nullptr;
  int (*power)(NvmlDevice, unsigned*) = nullptr;
  int (*power_limit)(NvmlDevice, unsigned*) = nullptr;
  int (*clock)(NvmlDevice, int, unsigned*) = nullptr;
  int (*errors)(NvmlDevice, int, int, Count*) = nullptr;
  int (*mig)(NvmlDevice, unsigned*, unsigned*) = nullptr;
  int (*slowdowns)(NvmlDevice, Count*) = nullptr;

  explicit Functions(void* library) {
    Bind(library, "nvmlInit_v2", &init);
    Bind(library, "nvmlShutdown", &shutdown);
    Bind(library, "nvmlErrorString", &error_string);
    Bind(library, "nvmlDeviceGetHandleByPciBusId_v2", &find);
    Bind(library, "nvmlDeviceGetMemoryInfo", &memory);
    Bind(library, "nvmlDeviceGetUtilizationRates", &utilisation);
    Bind(library, "nvmlDeviceGetTemperature", &temperature);
    Bind(library, "nvmlDeviceGetPowerUsage", &power);
    Bind(library, "nvmlDeviceGetEnforcedPowerLimit", &power_limit);
    Bind(library, "nvmlDeviceGetClockInfo", &clock);
    Bind(library, "nvmlDeviceGetTotalEccErrors", &errors);
    Bind(library, "nvmlDeviceGetMigMode", &mig);
    Bind(library, "nvmlDeviceGetCurrentClocksEventReasons", &slowdowns);
    // Its name in drivers before 535.
    if (slowdowns == nullptr) {
      Bind(library, "nvmlDeviceGetCurrentClocksThrottleReasons", &slowdowns);
    }
  }

  std::string Words(int code) const {
    const char* words = error_string == nullptr ? nullptr : error_string(code);
    return words == nullptr ? "NVML error " + std::to_string(code) : words;
  }

  Status Failure(int code, const std::string& doing) const {
    if (IsGone(code)) return {StatusCode::kGpuLost, "The GPU is lost: " + Words(code) + "."};
    return {StatusCode::kGpuUnavailable, "The driver fails at " + doing + ": " + Words(code) + "."};
  }
};

NvmlLibrary::NvmlLibrary(std::unique_ptr<Functions> functions) : functions_(std::move(functions)) {}

NvmlLibrary::~NvmlLibrary() {
  if (functions_->shutdown != nullptr) functions_->shutdown();
}

Result<std::unique_ptr<NvmlLibrary>> NvmlLibrary::Open(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Status(StatusCode::kGpuUnavailable,
                  "GPU figures are unknown: NVIDIA's management library libnvidia-ml.so.1 cannot "
                  "be opened. It comes with the driver; in a container it needs the driver "
                  "capability `utility`.");
  }
  auto functions = std::make_unique<Functions>(library);
  if (functions->init == nullptr || functions->find == nullptr) {
    return Status(StatusCode::kGpuUnavailable,
                  "GPU figures are unknown: the management library of this driver is too old.");
  }
  const int code = functions->init();
  if (code != kSuccess) {
    return Status(StatusCode::kGpuUnavailable,
                  "GPU figures are unknown: the management library cannot start: " +
                      functions->Words(code) + ".");
  }
  return std::unique_ptr<NvmlLibrary>(new NvmlLibrary(std::move(functions)));
}

Result<NvmlDevice> NvmlLibrary::Find(const std::string& bus_id) const {
  NvmlDevice device = nullptr;
  const int code = functions_->find(bus_id.c_str(), &device);
  if (code != kSuccess) return functions_->Failure(code, "finding the GPU at " + bus_id);
  return device;
}

namespace {

// The answers of one GPU, the first failure kept.
class Questions {
 public:
  explicit Questions(NvmlDevice device) : device_(device) {}

  // False where there is no answer. A GPU that is gone is asked nothing more.
  template <typename... Parameters, typename... Arguments>
  bool Ask(const char* about, int (*function)(NvmlDevice, Parameters...), Arguments... arguments) {
    if (function == nullptr || IsGone(code_)) return false;
    const int code = function(device_, arguments...);
    if (code == kSuccess) return true;
    if (IsGone(code) || (code_ == kSuccess && !IsAbsent(code))) {
      code_ = code;
      about_ = about;
    }
    return false;
  }

  int code() const { return code_; }
  const char* about() const { return about_; }

 private:
  NvmlDevice device_;
  int code_ = kSuccess;
  const char* about_ = "";
};

}  // namespace

Status NvmlLibrary::Read(NvmlDevice device, GpuFigures* figures) const {
  Questions gpu(device);
  const Functions& nvml = *functions_;
  unsigned value = 0;
  unsigned pending = 0;
  Memory memory;
  if (gpu.Ask("memory", nvml.memory, &memory)) {
    figures->memory_total = memory.total;
    figures->memory_used = memory.used;
  }
  Utilisation utilisation;
  if (gpu.Ask("utilisation", nvml.utilisation, &utilisation)) {
    figures->utilisation = static_cast<int>(utilisation.gpu);
  }
  if (gpu.Ask("temperature", nvml.temperature, kDieSensor, &value)) {
    figures->temperature = static_cast<int>(value);
  }
  if (gpu.Ask("power", nvml.power, &value)) figures->power = value / 1e3;
  if (gpu.Ask("power limit", nvml.power_limit, &value)) figures->power_limit = value / 1e3;
  if (gpu.Ask("clock", nvml.clock, kSmClock, &value)) figures->sm_clock = static_cast<int>(value);
  Count count = 0;
  if (gpu.Ask("memory errors", nvml.errors, kUncorrected, kSinceDriverLoad, &count)) {
    figures->uncorrected_errors = count;
  }
  if (gpu.Ask("MIG mode", nvml.mig, &value, &pending)) figures->mig = value == 1;
  if (gpu.Ask("clock limits", nvml.slowdowns, &count)) {
    for (const auto& [bit, name] : kSlowdowns) {
      if ((count & bit) != 0) figures->slowed_by.emplace_back(name);
    }
  }
  if (gpu.code() == kSuccess) return {};
  return nvml.Failure(gpu.code(), gpu.about());
}

}  // namespace lattice
