#include "native/gpu/cuda/gpu_device.h"

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>

#include "native/gpu/cuda/cuda_status.h"

namespace lattice {
namespace {

constexpr int kOldestSm = 75;

std::string UuidName(const cudaUUID_t& uuid) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string name = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) name += '-';
    const auto byte = static_cast<uint8_t>(uuid.bytes[i]);
    name += kDigits[byte >> 4];
    name += kDigits[byte & 15];
  }
  return name;
}

std::string BusId(const cudaDeviceProp& properties) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.0", properties.pciDomainID,
                properties.pciBusID, properties.pciDeviceID);
  return text.data();
}

// Where the GPUs cannot be listed none can be used. cudaErrorUnknown is then a driver that does not
// start: no GPU has been used yet, or its loss was reported before.
Status Unavailable(cudaError_t error) {
  const Status status = ToStatus(error, "listing the GPUs");
  if (status.code() == StatusCode::kGpuLost && error != cudaErrorUnknown) return status;
  return {StatusCode::kGpuUnavailable, status.message()};
}

}  // namespace

std::string UnusableReason(const std::string& name, int sm_major, int sm_minor) {
  if (10 * sm_major + sm_minor >= kOldestSm) return "";
  return "The GPU " + name + " has compute capability " + std::to_string(sm_major) + "." +
         std::to_string(sm_minor) + "; 7.5 (Turing) or newer is needed.";
}

Result<std::vector<GpuDevice>> ListGpus() {
  int count = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count == 0) error = cudaErrorNoDevice;
  std::vector<GpuDevice> gpus;
  for (int index = 0; error == cudaSuccess && index < count; ++index) {
    cudaDeviceProp properties{};
    error = cudaGetDeviceProperties(&properties, index);
    if (error != cudaSuccess) break;
    gpus.push_back({index, properties.name, properties.major, properties.minor,
                    properties.totalGlobalMem, UuidName(properties.uuid), BusId(properties),
                    UnusableReason(properties.name, properties.major, properties.minor)});
  }
  // The runtime keeps a failure until it is read.
  if (error != cudaSuccess) {
    cudaGetLastError();
    return Unavailable(error);
  }
  return gpus;
}

int NumaNodeOf(const std::string& bus_id) {
  std::ifstream file("/sys/bus/pci/devices/" + bus_id + "/numa_node");
  int node = -1;
  return file >> node && node >= 0 ? node : -1;
}

Status UseGpu(int index) {
  const cudaError_t error = cudaSetDevice(index);
  if (error != cudaSuccess) cudaGetLastError();
  return ToStatus(error, "choosing GPU " + std::to_string(index));
}

Status CheckGpu() {
  size_t free = 0;
  size_t total = 0;
  const cudaError_t error = cudaMemGetInfo(&free, &total);
  if (error != cudaSuccess) cudaGetLastError();
  return IsSticky(error) ? ToStatus(error, "asking for its memory") : Status();
}

size_t FreeGpuBytes() {
  size_t free = 0;
  size_t total = 0;
  if (cudaMemGetInfo(&free, &total) == cudaSuccess) return free;
  cudaGetLastError();
  return 0;
}

}  // namespace lattice
