// Which precision the CPU computes networks in.
#ifndef LATTICE_ENGINE_OPENVINO_CPU_PRECISION_H_
#define LATTICE_ENGINE_OPENVINO_CPU_PRECISION_H_

#include <string>

#include "native/base/status.h"

namespace lattice {

// Whether to compute in bfloat16 where `wished` is "f32", "bf16" or "auto". The latter takes it
// where that is faster here: CPUs with AMX compute several times as fast in it, others that have it
// may be slower, as some Intel servers are without AMX. So it is measured once a process, with some
// convolutions on the caller's thread, in about 0.1 s. kInvalidModel for "bf16" on a CPU without
// it. Thread-safe. Throws what the library throws.
Result<bool> UsesBf16(const std::string& wished);

}  // namespace lattice

#endif  // LATTICE_ENGINE_OPENVINO_CPU_PRECISION_H_
