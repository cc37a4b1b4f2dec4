// The compression function of SHA-256, in the instructions that the CPU has for it and in those
// that every CPU has. Both are here for the test that compares them; `sha256.cc` chooses.
#ifndef LATTICE_BASE_SHA256_BLOCKS_H_
#define LATTICE_BASE_SHA256_BLOCKS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace lattice {

inline constexpr size_t kSha256BlockBytes = 64;
using Sha256State = std::array<uint32_t, 8>;

// Adds blocks to the state. `bytes` holds `blocks` * 64 bytes, at any alignment.
using AddSha256Blocks = void (*)(const char* bytes, size_t blocks, Sha256State& state);

void AddSha256BlocksPortable(const char* bytes, size_t blocks, Sha256State& state);

// Null on a CPU without SHA instructions, and on other architectures than x86-64.
AddSha256Blocks AddSha256BlocksWithCpu();

}  // namespace lattice

#endif  // LATTICE_BASE_SHA256_BLOCKS_H_
