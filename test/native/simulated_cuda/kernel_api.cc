// How the code that nvcc makes of a launch reaches a kernel's body on the host.
#include <cuda_runtime_api.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "test/native/simulated_cuda/kernel_bodies.h"
#include "test/native/simulated_cuda/machine.h"
#include "test/native/simulated_cuda/stream.h"

namespace lattice::simulated {
namespace {

struct Configuration {
  dim3 grid;
  dim3 block;
  size_t shared_bytes;
  cudaStream_t stream;
};
thread_local std::optional<Configuration> next_launch;

std::mutex mutex;
// The stub that stands for a kernel on the host -> the kernel's name.
std::map<const void*, std::string>& Names() {
  static auto* names = new std::map<const void*, std::string>();
  return *names;
}

std::string NameOf(const void* stub) {
  const std::lock_guard lock(mutex);
  const auto found = Names().find(stub);
  return found == Names().end() ? "" : found->second;
}

// Limits of every GPU that is served here, without asking for more shared memory.
bool IsWithinLimits(const Configuration& launch) {
  constexpr unsigned kMostThreads = 1024;
  constexpr unsigned kMostAlongYAndZ = 65'535;
  constexpr size_t kMostSharedBytes = size_t{48} << 10;
  const dim3& grid = launch.grid;
  const dim3& block = launch.block;
  const bool none = grid.x * grid.y * grid.z == 0 || block.x * block.y * block.z == 0;
  return !none && block.x * block.y * block.z <= kMostThreads && block.z <= 64 &&
         grid.y <= kMostAlongYAndZ && grid.z <= kMostAlongYAndZ &&
         launch.shared_bytes <= kMostSharedBytes;
}

cudaError_t Launch(const void* stub, const Configuration& launch, void** arguments) {
  cudaError_t error = Machine::Get().Answer(Call::kKernel, launch.stream->gpu);
  if (error == cudaSuccess && !IsWithinLimits(launch)) error = cudaErrorInvalidConfiguration;
  // A thread may launch a kernel if the GPU of its stream is the current one.
  if (error == cudaSuccess && launch.stream->gpu != ThisThread().gpu) {
    error = cudaErrorInvalidResourceHandle;
  }
  if (error != cudaSuccess) return error;
  const Grid grid{launch.grid, launch.block, launch.stream->gpu};
  Work work = BodyOf(NameOf(stub), grid, arguments);
  return work ? Queue(launch.stream, std::move(work)) : cudaErrorInvalidDeviceFunction;
}

}  // namespace
}  // namespace lattice::simulated

using lattice::simulated::Machine;
using lattice::simulated::Remembered;
using lattice::simulated::ThisThread;

extern "C" {

void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}

void __cudaRegisterFunction(void**, const char* stub, char*, const char* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*) {
  const std::lock_guard lock(lattice::simulated::mutex);
  lattice::simulated::Names()[stub] = name;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                     cudaStream_t stream) {
  lattice::simulated::next_launch = {grid, block, shared_bytes, stream};
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes,
                                       void* stream) {
  if (!lattice::simulated::next_launch) return Remembered(cudaErrorMissingConfiguration);
  const auto launch = *std::exchange(lattice::simulated::next_launch, std::nullopt);
  *grid = launch.grid;
  *block = launch.block;
  *shared_bytes = launch.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = launch.stream;
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* stub, dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes, cudaStream_t stream) {
  return Remembered(
      lattice::simulated::Launch(stub, {grid, block, shared_bytes, stream}, arguments));
}

// From CUDA 13 on a launch goes through a handle, which here is the stub.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* stub) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(stub));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared_bytes, cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* stub) {
  *attributes = {};
  const std::string name = lattice::simulated::NameOf(stub);
  if (name.empty()) return Remembered(cudaErrorInvalidDeviceFunction);
  return Remembered(Machine::Get().Answer(ThisThread().gpu));
}

}  // extern "C"
