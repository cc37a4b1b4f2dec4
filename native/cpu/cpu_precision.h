// The precision in which the CPU computes networks.
#ifndef LATTICE_CPU_CPU_PRECISION_H_
#define LATTICE_CPU_CPU_PRECISION_H_

#include <string>

#include "native/base/status.h"

namespace lattice {

// Whether to compute in bfloat16, for the option "f32", "bf16" or "auto". "auto" takes bfloat16 if
// it is faster on this CPU: with AMX it is several times as fast, without AMX it may be slower
// although the CPU has it. So it is measured once per process, with some convolutions on the
// calling thread, in about 0.1 s of the thread's CPU time, which other programs do not change. The
// gain is kept in the folder, if there is one, for later processes; where it is close to the least
// one, five processes measure it and the median decides. Fails with kInvalidModel for "bf16" on a
// CPU without it. Thread-safe. Throws what the library throws.
Result<bool> UsesBf16(const std::string& precision, const std::string& kept_folder = {});

// Whether convolutions in 8 bits are at least 1.15 times as fast on this CPU as in what "auto"
// takes. It is measured and kept in the same way, and is false where the library cannot run 8-bit
// convolutions. Thread-safe, does not throw.
bool EightBitPays(const std::string& kept_folder = {});

}  // namespace lattice

#endif  // LATTICE_CPU_CPU_PRECISION_H_
