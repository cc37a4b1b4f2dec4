// libnvinfer's entry points, as far as the engine looks them up.
#include <NvInfer.h>
#include <cuda_runtime_api.h>

#include <cstddef>

#include "test/native/simulated_cuda/simulated_gpus.h"
#include "test/native/simulated_tensorrt/builder.h"
#include "test/native/simulated_tensorrt/runtime.h"

#define SIMULATED_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

// Without a GPU that works the real library says so in its log only: what it gives points nowhere.
void* Refuse(void* logger) {
  int gpu = 0;
  (void)cudaGetDevice(&gpu);
  const auto sight = lattice::simulated::LookAt(gpu);
  if (sight && sight->fault == cudaSuccess) return nullptr;
  static_cast<nvinfer1::ILogger*>(logger)->log(
      nvinfer1::ILogger::Severity::kERROR,
      "Error Code 6: API Usage Error (CUDA initialization failure)");
  return reinterpret_cast<void*>(size_t{0x200});
}

}  // namespace

SIMULATED_EXPORT int32_t getInferLibMajorVersion() { return NV_TENSORRT_MAJOR; }
SIMULATED_EXPORT int32_t getInferLibMinorVersion() { return NV_TENSORRT_MINOR; }
SIMULATED_EXPORT int32_t getInferLibPatchVersion() { return NV_TENSORRT_PATCH; }

SIMULATED_EXPORT void* createInferRuntime_INTERNAL(void* logger, int32_t) {
  if (void* const nowhere = Refuse(logger)) return nowhere;
  nvinfer1::IRuntime* runtime =
      new lattice::simulated::Runtime(*static_cast<nvinfer1::ILogger*>(logger));
  return runtime;
}

SIMULATED_EXPORT void* createInferBuilder_INTERNAL(void* logger, int32_t) {
  if (void* const nowhere = Refuse(logger)) return nowhere;
  nvinfer1::IBuilder* builder =
      new lattice::simulated::Builder(*static_cast<nvinfer1::ILogger*>(logger));
  return builder;
}
