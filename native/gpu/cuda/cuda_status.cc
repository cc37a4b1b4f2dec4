#include "native/gpu/cuda/cuda_status.h"

#include <dlfcn.h>

#include <string>

namespace lattice {
namespace {

std::string VersionName(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// The version of the loaded runtime, which may differ from the compiled headers' version.
int RuntimeVersion() {
  int version = 0;
  return cudaRuntimeGetVersion(&version) == cudaSuccess ? version : CUDART_VERSION;
}

std::string Explained(cudaError_t error, const CudaDriver& driver) {
  const std::string wanted = VersionName(RuntimeVersion());
  switch (ClassifyCudaError(error, driver)) {
    case CudaFault::kNoDriver:
      return "No NVIDIA driver was found (libcuda.so.1 is missing or a stub). Install the driver, "
             "or start "
             "the container with the NVIDIA container runtime (--gpus all).";
    case CudaFault::kDriverTooOld:
      return "The NVIDIA driver serves CUDA up to " +
             (driver.version > 0 ? VersionName(driver.version) : "an unknown version") +
             ", and this build needs " + wanted +
             ". Install a newer driver, or build against an older CUDA toolkit.";
    case CudaFault::kNoDevice:
      return "The NVIDIA driver shows no GPU to this process. Check nvidia-smi and "
             "CUDA_VISIBLE_DEVICES.";
    case CudaFault::kNotReady:
      return "The NVIDIA driver is there and not ready. Check nvidia-smi; GPUs that are joined by "
             "NVSwitch also need the service nvidia-fabricmanager.";
    case CudaFault::kUnsupportedGpu:
      return "This build has no code for the GPU's generation. Build it again with "
             "CMAKE_CUDA_ARCHITECTURES=native.";
    case CudaFault::kOutOfMemory:
      return "The GPU is out of memory. Close other programs that use it, load fewer models, or "
             "lower the largest batch.";
    case CudaFault::kSticky:
      return "The GPU faulted and is lost to this process. Restart the service; if it happens "
             "again, check nvidia-smi and look for Xid errors of the driver in the kernel's log.";
    default:
      return "See the error's name in NVIDIA's CUDA runtime documentation.";
  }
}

}  // namespace

CudaDriver FindCudaDriver() {
  // Left open: the runtime keeps it open anyway.
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {};
  CudaDriver driver{true, 0};
  using GetVersion = int (*)(int*);
  const auto get_version = reinterpret_cast<GetVersion>(dlsym(library, "cuDriverGetVersion"));
  if (get_version == nullptr || get_version(&driver.version) != 0) driver.version = 0;
  return driver;
}

bool IsSticky(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorIllegalInstruction:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContextIsDestroyed:
    case cudaErrorExternalDevice:
    case cudaErrorMpsClientTerminated:
    case cudaErrorUnknown:  // a GPU that has fallen off the bus answers it
#if CUDART_VERSION >= 13000
    case cudaErrorContained:
    case cudaErrorTensorMemoryLeak:
#endif
      return true;
    default:
      return false;
  }
}

CudaFault ClassifyCudaError(cudaError_t error, const CudaDriver& driver) {
  switch (error) {
    case cudaSuccess:
      return CudaFault::kNone;
    // The runtime says "insufficient" both when the driver is old and when there is none.
    case cudaErrorInsufficientDriver:
      return driver.present ? CudaFault::kDriverTooOld : CudaFault::kNoDriver;
    case cudaErrorStubLibrary:
      return CudaFault::kNoDriver;
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
      return CudaFault::kDriverTooOld;
    case cudaErrorNoDevice:
    case cudaErrorDevicesUnavailable:
      return CudaFault::kNoDevice;
    case cudaErrorSystemNotReady:
    case cudaErrorInitializationError:
      return CudaFault::kNotReady;
    case cudaErrorNoKernelImageForDevice:
      return CudaFault::kUnsupportedGpu;
    case cudaErrorMemoryAllocation:
      return CudaFault::kOutOfMemory;
    default:
      return IsSticky(error) ? CudaFault::kSticky : CudaFault::kOther;
  }
}

namespace {

StatusCode CodeOf(CudaFault fault) {
  switch (fault) {
    case CudaFault::kNoDriver:
    case CudaFault::kDriverTooOld:
    case CudaFault::kNoDevice:
    case CudaFault::kNotReady:
    case CudaFault::kUnsupportedGpu:
      return StatusCode::kGpuUnavailable;
    case CudaFault::kOutOfMemory:
      return StatusCode::kOverloaded;
    case CudaFault::kSticky:
      return StatusCode::kGpuLost;
    default:
      return StatusCode::kInternalError;
  }
}

}  // namespace

Status ToStatus(cudaError_t error, std::string_view doing) {
  if (error == cudaSuccess) return {};
  return ToStatus(error, doing, FindCudaDriver());
}

Status ToStatus(cudaError_t error, std::string_view doing, const CudaDriver& driver) {
  if (error == cudaSuccess) return {};
  std::string sentence = Explained(error, driver);
  sentence += " (";
  sentence += cudaGetErrorName(error);
  sentence += ", ";
  sentence += cudaGetErrorString(error);
  sentence += ", while ";
  sentence += doing;
  sentence += ")";
  return {CodeOf(ClassifyCudaError(error, driver)), sentence};
}

}  // namespace lattice
