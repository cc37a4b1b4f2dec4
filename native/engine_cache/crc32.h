// The CRC-32 of zlib, PNG and Ethernet.
#ifndef LATTICE_ENGINE_CACHE_CRC32_H_
#define LATTICE_ENGINE_CACHE_CRC32_H_

#include <cstdint>
#include <span>

namespace lattice {

// Finds accidental damage, no tampering. `before` is the sum of the bytes in front of these, so
// that a sum can be computed in parts.
uint32_t Crc32(std::span<const char> bytes, uint32_t before = 0);

}  // namespace lattice

#endif  // LATTICE_ENGINE_CACHE_CRC32_H_
