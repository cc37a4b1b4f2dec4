// libnvinfer's entry points, as far as the engine looks them up.
#include <NvInfer.h>

#include "test/native/simulated_tensorrt/builder.h"
#include "test/native/simulated_tensorrt/runtime.h"

#define SIMULATED_EXPORT extern "C" __attribute__((visibility("default")))

SIMULATED_EXPORT int32_t getInferLibMajorVersion() { return NV_TENSORRT_MAJOR; }
SIMULATED_EXPORT int32_t getInferLibMinorVersion() { return NV_TENSORRT_MINOR; }
SIMULATED_EXPORT int32_t getInferLibPatchVersion() { return NV_TENSORRT_PATCH; }

SIMULATED_EXPORT void* createInferRuntime_INTERNAL(void* logger, int32_t) {
  nvinfer1::IRuntime* runtime =
      new lattice::simulated::Runtime(*static_cast<nvinfer1::ILogger*>(logger));
  return runtime;
}

SIMULATED_EXPORT void* createInferBuilder_INTERNAL(void* logger, int32_t) {
  nvinfer1::IBuilder* builder =
      new lattice::simulated::Builder(*static_cast<nvinfer1::ILogger*>(logger));
  return builder;
}
