// Builds without CUDA or nvJPEG's header.
#include "native/decode/nvjpeg/open_hardware_decoder.h"

namespace lattice {

Status FindHardwareDecoder() {
  return {StatusCode::kGpuUnavailable,
          "This build decodes on the CPU only: CUDA or nvJPEG's header was missing."};
}

Result<std::unique_ptr<HardwareDecoder>> OpenHardwareDecoder(int) { return FindHardwareDecoder(); }

}  // namespace lattice
