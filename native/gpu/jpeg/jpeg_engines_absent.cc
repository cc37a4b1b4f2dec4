// Builds without CUDA, or without nvJPEG's header.
#include "native/gpu/gpu_engine.h"

namespace lattice {

Status FindJpegEngines() {
  return {StatusCode::kGpuUnavailable,
          "This build decodes on the CPU only: CUDA or nvJPEG's header was missing."};
}

Result<std::shared_ptr<const ImageDecoder>> OpenJpegEngines(int) { return FindJpegEngines(); }

}  // namespace lattice
