// The runtime's functions for devices and errors.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>

#include "test/native/simulated_cuda/machine.h"
#include "test/native/simulated_cuda/stream.h"

using lattice::simulated::Machine;
using lattice::simulated::Remembered;
using lattice::simulated::ThisThread;

namespace {

struct ErrorWords {
  cudaError_t error;
  const char* name;
  const char* sentence;
};
constexpr ErrorWords kErrorWords[] = {
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorECCUncorrectable, "cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
};

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = Machine::Get().count();
  if (*count == 0) return Remembered(cudaErrorNoDevice);
  return Remembered(Machine::Get().AskedAnswer(lattice::simulated::Call::kDeviceCount));
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int gpu) {
  if (gpu < 0 || gpu >= Machine::Get().count()) return Remembered(cudaErrorInvalidDevice);
  const lattice::simulated::GpuKind kind = Machine::Get().KindOf(gpu);
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "%s", kind.name.c_str());
  properties->major = kind.sm_major;
  properties->minor = kind.sm_minor;
  properties->totalGlobalMem = kind.memory_bytes;
  std::memset(&properties->uuid, 0x10 + gpu, sizeof properties->uuid);
  properties->pciBusID = lattice::simulated::kFirstPciBus + gpu;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int gpu) {
  if (gpu < 0 || gpu >= Machine::Get().count()) return Remembered(cudaErrorInvalidDevice);
  ThisThread().gpu = gpu;
  return cudaSuccess;  // also on a faulted GPU: no caller may rely on an error here
}

cudaError_t cudaGetDevice(int* gpu) {
  *gpu = ThisThread().gpu;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  *lowest = 0;
  *highest = -5;
  return Remembered(Machine::Get().Answer(ThisThread().gpu));
}

// A fault of the GPU is answered again and again, another failure once.
cudaError_t cudaGetLastError() {
  const cudaError_t last = ThisThread().last;
  ThisThread().last = cudaSuccess;
  if (last != cudaSuccess || Machine::Get().count() == 0) return last;
  return Machine::Get().Answer(ThisThread().gpu);
}

cudaError_t cudaPeekAtLastError() { return ThisThread().last; }

const char* cudaGetErrorName(cudaError_t error) {
  for (const ErrorWords& words : kErrorWords) {
    if (words.error == error) return words.name;
  }
  return "cudaErrorOfTheSimulation";
}

const char* cudaGetErrorString(cudaError_t error) {
  for (const ErrorWords& words : kErrorWords) {
    if (words.error == error) return words.sentence;
  }
  return "an error without words in the simulation";
}

}  // extern "C"
