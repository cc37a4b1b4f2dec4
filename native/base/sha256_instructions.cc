#include "native/base/sha256_blocks.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace lattice {

#ifdef __x86_64__

#define LATTICE_SHA_TARGET __attribute__((target("sha,sse4.1,ssse3")))

bool HasShaInstructions() {
  static const bool has = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (b >> 29 & 1) == 0) return false;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0) return false;
    return (c & bit_SSSE3) != 0 && (c & bit_SSE4_1) != 0;
  }();
  return has;
}

// The instructions keep the eight words as (f, e, b, a) and (h, g, d, c), lowest lane first, and do
// two rounds each: hence four words of the schedule and two calls a step.
LATTICE_SHA_TARGET void CompressByInstructions(std::array<uint32_t, 8>* state,
                                               const uint8_t* blocks, size_t count) {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  auto* const words = reinterpret_cast<__m128i*>(state->data());
  const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xb1);
  const __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1b);
  __m128i abef = _mm_alignr_epi8(badc, hgfe, 8);
  __m128i cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);
  for (size_t n = 0; n < count; ++n) {
    const __m128i abef_before = abef;
    const __m128i cdgh_before = cdgh;
    __m128i schedule[4];
    for (size_t i = 0; i < 4; ++i) {
      const auto* const bytes = reinterpret_cast<const __m128i*>(blocks + 64 * n + 16 * i);
      schedule[i] = _mm_shuffle_epi8(_mm_loadu_si128(bytes), big_endian);
    }
#pragma GCC unroll 16
    for (size_t step = 0; step < 16; ++step) {
      __m128i& present = schedule[step % 4];
      if (step >= 4) {
        const __m128i last = schedule[(step + 3) % 4];
        const __m128i seventh = _mm_alignr_epi8(last, schedule[(step + 2) % 4], 4);
        present = _mm_add_epi32(_mm_sha256msg1_epu32(present, schedule[(step + 1) % 4]), seventh);
        present = _mm_sha256msg2_epu32(present, last);
      }
      const auto* const constants =
          reinterpret_cast<const __m128i*>(kSha256Constants.data() + 4 * step);
      const __m128i added = _mm_add_epi32(present, _mm_loadu_si128(constants));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, added);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(added, 0x0e));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(words, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(words + 1, _mm_alignr_epi8(dchg, feba, 8));
}

#else

bool HasShaInstructions() { return false; }

void CompressByInstructions(std::array<uint32_t, 8>* state, const uint8_t* blocks, size_t count) {
  CompressPortably(state, blocks, count);
}

#endif

}  // namespace lattice
