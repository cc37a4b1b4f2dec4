// libnvinfer's entry points, as far as the engine looks them up.
#include <NvInfer.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstddef>
#include <string>

#include "test/native/simulated_tensorrt/builder.h"
#include "test/native/simulated_tensorrt/runtime.h"

#define SIMULATED_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

// Without a GPU that works the real library says so in its log only: what it gives points nowhere.
void* Refuse(void* logger) {
  size_t free = 0;
  size_t total = 0;
  if (cudaMemGetInfo(&free, &total) == cudaSuccess) return nullptr;
  (void)cudaGetLastError();
  static_cast<nvinfer1::ILogger*>(logger)->log(
      nvinfer1::ILogger::Severity::kERROR,
      "Error Code 6: API Usage Error (CUDA initialization failure)");
  return reinterpret_cast<void*>(size_t{0x200});
}

// By its name alone, and with no run path that has it: the real library does likewise.
bool OpenBuilderResource(nvinfer1::ILogger& logger) {
  const std::string name = "libnvinfer_builder_resource.so." + std::to_string(NV_TENSORRT_MAJOR) +
                           "." + std::to_string(NV_TENSORRT_MINOR) + "." +
                           std::to_string(NV_TENSORRT_PATCH);
  if (dlopen(name.c_str(), RTLD_LAZY) != nullptr) return true;
  const std::string words =
      "Error Code 6: API Usage Error (Unable to load library: " + name + ": " + dlerror() + ")";
  logger.log(nvinfer1::ILogger::Severity::kERROR, words.c_str());
  return false;
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
  auto& told = *static_cast<nvinfer1::ILogger*>(logger);
  if (!OpenBuilderResource(told)) return nullptr;
  nvinfer1::IBuilder* builder = new lattice::simulated::Builder(told);
  return builder;
}
