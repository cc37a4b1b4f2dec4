// Builds without CUDA or TensorRT's headers.
#include "native/gpu/gpu_engine.h"

namespace lattice {
namespace {

Status NotBuilt() {
  return {StatusCode::kGpuUnavailable,
          "This build has no CUDA engine: the CUDA toolkit or TensorRT's headers were missing. "
          "Install both and run `npm run setup` again, or use LATTICE_DEVICE=cpu."};
}

}  // namespace

std::string GpuBuild() { return ""; }

Result<std::vector<GpuIdentity>> UsableGpus() { return NotBuilt(); }

Result<std::unique_ptr<Engine>> LoadGpuEngine(const std::string&, const GpuEngineOptions&,
                                              const OnEngineBuild&) {
  return NotBuilt();
}

}  // namespace lattice
