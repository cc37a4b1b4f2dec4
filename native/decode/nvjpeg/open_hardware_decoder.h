// The JPEG engines of a GPU, opened. Declared for every build; one without CUDA or nvJPEG's header
// has none.
#ifndef LATTICE_DECODE_NVJPEG_OPEN_HARDWARE_DECODER_H_
#define LATTICE_DECODE_NVJPEG_OPEN_HARDWARE_DECODER_H_

#include <memory>

#include "native/decode/hardware_decoder.h"

namespace lattice {

// Of GPU `gpu`, as CUDA counts in this process. Opens nvJPEG and creates a context on the GPU, a
// few tenths of a second; afterwards the GPU is the thread's current one. kGpuUnavailable and other
// codes with a sentence where the engines cannot be used; touches no GPU where none can be used.
Result<std::unique_ptr<HardwareDecoder>> OpenHardwareDecoder(int gpu);

// kGpuUnavailable with a sentence where no GPU could decode: in a build without nvJPEG's header and
// on a machine without the library. Touches no GPU.
Status FindHardwareDecoder();

}  // namespace lattice

#endif  // LATTICE_DECODE_NVJPEG_OPEN_HARDWARE_DECODER_H_
