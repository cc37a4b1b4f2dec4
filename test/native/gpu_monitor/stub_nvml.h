// A stand-in for NVIDIA's management library with simulated GPUs, and how tests set it. Built
// without GoogleTest.
#ifndef LATTICE_TEST_GPU_MONITOR_STUB_NVML_H_
#define LATTICE_TEST_GPU_MONITOR_STUB_NVML_H_

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <stdexcept>

namespace lattice {

inline constexpr int kStubNotSupported = 3;
inline constexpr int kStubNoPermission = 4;
inline constexpr int kStubMismatch = 18;
inline constexpr int kStubGpuIsLost = 15;
inline constexpr int kStubUnknown = 999;

// Each figure of a GPU, in the order in which StubGpu::codes has their return codes.
enum StubFigure {
  kStubMemory,
  kStubUtilisation,
  kStubTemperature,
  kStubPower,
  kStubPowerLimit,
  kStubClock,
  kStubErrors,
  kStubMig,
  kStubSlowdowns,
  kStubFigures
};

struct StubGpu {
  std::array<std::atomic<int>, kStubFigures> codes{};
  std::atomic<int> find_code = 0;
  std::atomic<unsigned> used_mib = 0;
  std::atomic<unsigned> utilisation = 0;
  std::atomic<unsigned> temperature = 0;
  std::atomic<unsigned> milliwatts = 0;
  std::atomic<unsigned> clock = 0;
  std::atomic<unsigned> errors = 0;
  std::atomic<unsigned> mig = 0;
  std::atomic<unsigned> slowdowns = 0;
  std::atomic<int> asked = 0;  // times
};

// Bus ids by number, as the library counts: CUDA counts differently.
inline constexpr std::array<const char*, 3> kStubBusIds = {"0000:17:00.0", "0000:65:00.0",
                                                           "0001:ca:00.0"};
inline constexpr unsigned kStubTotalMib = 81'920;
inline constexpr unsigned kStubLimitMilliwatts = 700'000;

struct StubNvml {
  std::array<StubGpu, kStubBusIds.size()> gpus;
  std::atomic<int> init_code = 0;
  std::atomic<int> inits = 0;
  std::atomic<int> shutdowns = 0;
  std::atomic<bool> hangs = false;  // every call waits while it is true
  std::atomic<int> hanging = 0;     // calls that wait now
};

// Of the library at `path`, which is loaded by this and stays so. Throws where it cannot be loaded.
inline StubNvml* OpenStub(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  return reinterpret_cast<StubNvml* (*)()>(dlsym(library, "StubNvmlState"))();
}

// As it was when it was loaded, with figures that differ from GPU to GPU.
inline void ResetStub(StubNvml* stub) {
  stub->hangs = false;
  stub->init_code = stub->inits = stub->shutdowns = 0;
  for (unsigned i = 0; i < stub->gpus.size(); ++i) {
    StubGpu& gpu = stub->gpus[i];
    for (auto& code : gpu.codes) code = 0;
    gpu.find_code = gpu.asked = 0;
    gpu.used_mib = 1'000 + i;
    gpu.utilisation = 10 + i;
    gpu.temperature = 40 + i;
    gpu.milliwatts = 100'500 + 1'000 * i;
    gpu.clock = 1'800 + i;
    gpu.errors = i;
    gpu.mig = 0;
    gpu.slowdowns = 0;
  }
}

}  // namespace lattice

#endif  // LATTICE_TEST_GPU_MONITOR_STUB_NVML_H_
