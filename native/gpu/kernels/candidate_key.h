// A candidate as one number. Ascending keys are the order of the result: highest score first, ties
// by anchor, then by class. No two keys are equal, so that every sort gives the same list.
#ifndef LATTICE_GPU_KERNELS_CANDIDATE_KEY_H_
#define LATTICE_GPU_KERNELS_CANDIDATE_KEY_H_

#include <cstdint>
#include <cstring>

#include "native/base/host_device.h"

namespace lattice {

using CandidateKey = uint64_t;

// Greater than every candidate's key.
inline constexpr CandidateKey kNoCandidate = ~CandidateKey{0};

// `score` is finite, `anchor` below 32,768, `class_id` below 1,024.
LATTICE_HOST_DEVICE inline CandidateKey MakeKey(float score, int anchor, int class_id) {
  // -0 equals 0 and must have the same key.
  const float plain = score + 0.0f;
  uint32_t bits;
  std::memcpy(&bits, &plain, sizeof bits);
  const uint32_t falling = (bits >> 31) != 0 ? bits : ~bits & 0x7FFF'FFFFu;
  return CandidateKey{falling} << 32 | static_cast<uint32_t>(anchor) << 16 |
         static_cast<uint32_t>(class_id);
}

LATTICE_HOST_DEVICE inline int AnchorOf(CandidateKey key) {
  return static_cast<int>(static_cast<uint32_t>(key) >> 16);
}

LATTICE_HOST_DEVICE inline int ClassOf(CandidateKey key) { return static_cast<int>(key & 0xFFFF); }

}  // namespace lattice

#endif  // LATTICE_GPU_KERNELS_CANDIDATE_KEY_H_
