// IEEE 754 binary16 on machines that have no instructions for it.
#ifndef LATTICE_MODEL_HALF_FLOAT_H_
#define LATTICE_MODEL_HALF_FLOAT_H_

#include <cstdint>

#include "native/base/bit_cast.h"

namespace lattice {

inline constexpr float kLargestHalf = 65504.0f;

// The bits of the nearest half, ties to even: 65,520 and above become infinity, what is at most
// 2^-25 becomes zero, a NaN stays a (quiet) NaN. Signs are kept.
inline uint16_t ToHalfBits(float value) {
  const auto bits = BitCast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return static_cast<uint16_t>(sign | 0x7e00 | (magnitude >> 13 & 0x1ff));
  if (magnitude >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);
  uint32_t significand = magnitude;
  uint32_t dropped = 13;  // low bits that do not fit into a half
  if (magnitude >= 0x38800000) {
    significand -= 112u << 23;  // the exponent counts from -15 instead of -127
  } else {
    // Subnormal: a multiple of 2^-24.
    const uint32_t exponent = magnitude >> 23;
    if (exponent < 102) return sign;
    significand = (magnitude & 0x7fffff) | 0x800000;
    dropped = 126 - exponent;
  }
  const uint32_t rest = significand & ((1u << dropped) - 1);
  const uint32_t middle = 1u << (dropped - 1);
  uint32_t half = significand >> dropped;
  if (rest > middle || (rest == middle && (half & 1) != 0)) ++half;  // may carry into the exponent
  return static_cast<uint16_t>(sign | half);
}

// Exact.
inline float FromHalfBits(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = half >> 10 & 0x1f;
  const uint32_t fraction = half & 0x3ff;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return BitCast<float>(BitCast<uint32_t>(magnitude) | sign);
  }
  const uint32_t wide = exponent == 31 ? 0xff : exponent + 112;
  return BitCast<float>(sign | wide << 23 | fraction << 13);
}

}  // namespace lattice

#endif  // LATTICE_MODEL_HALF_FLOAT_H_
