#include <algorithm>
#include <string>
#include <utility>

#include "native/gpu/cuda/gpu_device.h"
#include "native/gpu/gpu_engine.h"
#include "native/gpu/jpeg/image_decoder.h"
#include "native/gpu/nvjpeg/nvjpeg_engines.h"

namespace lattice {
namespace {

// GPU memory for decoded images, of which each waits for the network: 100 large photos, as many as
// wait for one GPU (docs/decoding.md).
constexpr size_t kMostPlaneBytes = size_t{2} << 30;
constexpr size_t kShareOfMemory = 16;

}  // namespace

Status FindJpegEngines() { return NvJpegLibrary::Open().status(); }

Result<std::shared_ptr<const ImageDecoder>> OpenJpegEngines(int gpu) {
  const auto gpus = ListGpus();
  if (!gpus.ok()) return gpus.status();
  const auto found = std::find_if(gpus->begin(), gpus->end(),
                                  [gpu](const GpuDevice& device) { return device.index == gpu; });
  if (found == gpus->end() || !found->unusable.empty()) {
    return Status(StatusCode::kGpuUnavailable, "GPU " + std::to_string(gpu) + " cannot be used.");
  }
  const auto library = NvJpegLibrary::Open();
  if (!library.ok()) return library.status();
  auto engines = NvJpegEngines::Open(**library, gpu);
  if (!engines.ok()) return engines.status();
  return std::make_shared<const ImageDecoder>(std::make_unique<HardwareDecoder>(
      *std::move(engines), std::min(kMostPlaneBytes, found->memory_bytes / kShareOfMemory)));
}

}  // namespace lattice
