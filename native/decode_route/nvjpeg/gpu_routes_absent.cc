// Builds without CUDA or nvJPEG's header.
#include "native/decode_route/nvjpeg/gpu_routes.h"

namespace lattice {

GpuRoutes OpenGpuRoutes(const std::vector<std::string>&, size_t) {
  return {{}, {"This build decodes on the CPU only: CUDA or nvJPEG's header was missing."}};
}

}  // namespace lattice
