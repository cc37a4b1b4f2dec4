#include "native/letterbox/letterbox_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "native/letterbox/letterbox_sample.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define LATTICE_AVX2_FMA __attribute__((target("avx2,fma")))
#endif

namespace lattice {
namespace {

Tap TapAt(const ColumnTaps& taps, int x) {
  return {taps.first_byte[x], taps.weights[x] & 0xFFFF, taps.weights[x] >> 16};
}

// Columns from `begin` on, without reading past the right edge. `kStep`: bytes of a source pixel.
template <int kStep>
void BlendColumnsFrom(int begin, const uint8_t* source, const ColumnTaps& taps, int16_t* out) {
  for (int x = begin; x < taps.count; ++x) {
    const Tap tap = TapAt(taps, x);
    const uint8_t* left = source + tap.first;
    const uint8_t* right = source + std::min(tap.first + kStep, taps.last_byte);
    for (int c = 0; c < 3; ++c) {
      out[4 * x + c] = static_cast<int16_t>(BlendColumns(left[c], right[c], tap));
    }
    out[4 * x + 3] = 0;
  }
}

template <int kStep>
void BlendColumnsPlain(const uint8_t* source, const ColumnTaps& taps, int16_t* out) {
  BlendColumnsFrom<kStep>(0, source, taps, out);
}

void BlendRowsPlain(const int16_t* upper, const int16_t* lower, int weight0, int weight1,
                    int pixels, uint8_t* out) {
  for (int i = 0; i < 4 * pixels; ++i) {
    out[i] = static_cast<uint8_t>(BlendRows(upper[i], lower[i], weight0, weight1));
  }
}

// `step`: bytes of a pixel.
template <typename Value>
void SplitFrom(int begin, const uint8_t* pixel, int step, int pixels, PlaneRows<Value> out) {
  pixel += static_cast<std::ptrdiff_t>(begin) * step;
  for (int x = begin; x < pixels; ++x, pixel += step) {
    out.red[x] = InputNumber<Value>(pixel[0]);
    out.green[x] = InputNumber<Value>(pixel[1]);
    out.blue[x] = InputNumber<Value>(pixel[2]);
  }
}

template <typename Value>
void SplitLevelsPlain(const uint8_t* levels, int pixels, PlaneRows<Value> out) {
  SplitFrom(0, levels, 4, pixels, out);
}

template <typename Value>
void SplitRgbPlain(const uint8_t* rgb, int64_t, int pixels, PlaneRows<Value> out) {
  SplitFrom(0, rgb, 3, pixels, out);
}

template <typename Value>
constexpr PlaneSplits<Value> kPlainSplits = {SplitLevelsPlain<Value>, SplitRgbPlain<Value>};

constexpr LetterboxRows kPlainLetterboxRows = {BlendColumnsPlain<3>, BlendColumnsPlain<4>,
                                               BlendRowsPlain, kPlainSplits<float>,
                                               kPlainSplits<uint8_t>};

#if defined(__x86_64__)

// Two target columns: 8 source bytes each become (r0 r1)(g0 g1)(b0 b1)(unused) as 16-bit pairs, and
// one multiply-add gives the four sums of a pixel.
template <int kStep>
LATTICE_AVX2_FMA inline __m256i BlendTwoColumns(const uint8_t* source, const ColumnTaps& taps,
                                                int x) {
  const __m128i left =
      _mm_loadl_epi64(reinterpret_cast<const __m128i*>(source + taps.first_byte[x]));
  const __m128i right =
      _mm_loadl_epi64(reinterpret_cast<const __m128i*>(source + taps.first_byte[x + 1]));
  const __m256i bytes = _mm256_inserti128_si256(_mm256_castsi128_si256(left), right, 1);
  const __m256i pair = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, -1, kStep, -1, 1, -1, kStep + 1, -1, 2, -1, kStep + 2, -1, -1, -1, -1, -1));
  const __m256i weights =
      _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_set1_epi32(taps.weights[x])),
                              _mm_set1_epi32(taps.weights[x + 1]), 1);
  return _mm256_srai_epi32(_mm256_madd_epi16(_mm256_shuffle_epi8(bytes, pair), weights), 4);
}

template <int kStep>
LATTICE_AVX2_FMA void BlendColumnsAvx2(const uint8_t* source, const ColumnTaps& taps,
                                       int16_t* out) {
  int x = 0;
  for (; x + 4 <= taps.wide_count; x += 4) {
    const __m256i low = BlendTwoColumns<kStep>(source, taps, x);
    const __m256i high = BlendTwoColumns<kStep>(source, taps, x + 2);
    // Packing works on halves: put the four pixels back in order.
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xD8);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 4 * x), packed);
  }
  BlendColumnsFrom<kStep>(x, source, taps, out);
}

LATTICE_AVX2_FMA inline __m256i BlendSixteen(const int16_t* upper, const int16_t* lower,
                                             __m256i weight0, __m256i weight1) {
  const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(upper));
  const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lower));
  const __m256i sum =
      _mm256_add_epi16(_mm256_mulhi_epi16(a, weight0), _mm256_mulhi_epi16(b, weight1));
  return _mm256_srai_epi16(_mm256_add_epi16(sum, _mm256_set1_epi16(2)), 2);
}

LATTICE_AVX2_FMA void BlendRowsAvx2(const int16_t* upper, const int16_t* lower, int weight0,
                                    int weight1, int pixels, uint8_t* out) {
  const __m256i w0 = _mm256_set1_epi16(static_cast<int16_t>(weight0));
  const __m256i w1 = _mm256_set1_epi16(static_cast<int16_t>(weight1));
  int x = 0;
  for (; x + 8 <= pixels; x += 8) {
    const __m256i low = BlendSixteen(upper + 4 * x, lower + 4 * x, w0, w1);
    const __m256i high = BlendSixteen(upper + 4 * x + 16, lower + 4 * x + 16, w0, w1);
    const __m256i levels = _mm256_permute4x64_epi64(_mm256_packus_epi16(low, high), 0xD8);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 4 * x), levels);
  }
  BlendRowsPlain(upper + 4 * x, lower + 4 * x, weight0, weight1, pixels - x, out + 4 * x);
}

// x / 255, correctly rounded: one Newton step on the product with the reciprocal costs less than
// dividing.
LATTICE_AVX2_FMA inline __m256 NormalisedEight(__m256i levels) {
  const __m256 value = _mm256_cvtepi32_ps(levels);
  const __m256 reciprocal = _mm256_set1_ps(1.0f / 255.0f);
  const __m256 guess = _mm256_mul_ps(value, reciprocal);
  const __m256 rest = _mm256_fnmadd_ps(guess, _mm256_set1_ps(255.0f), value);
  return _mm256_fmadd_ps(rest, reciprocal, guess);
}

// Eight pixels of four bytes -> the rows from column `x` on.
LATTICE_AVX2_FMA inline void StoreEight(__m256i pixels, PlaneRows<float> out, int x) {
  const __m256i mask = _mm256_set1_epi32(0xFF);
  _mm256_storeu_ps(out.red + x, NormalisedEight(_mm256_and_si256(pixels, mask)));
  _mm256_storeu_ps(out.green + x,
                   NormalisedEight(_mm256_and_si256(_mm256_srli_epi32(pixels, 8), mask)));
  _mm256_storeu_ps(out.blue + x,
                   NormalisedEight(_mm256_and_si256(_mm256_srli_epi32(pixels, 16), mask)));
}

LATTICE_AVX2_FMA inline void StoreEight(__m256i pixels, PlaneRows<uint8_t> out, int x) {
  const __m256i by_colour = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, -1, -1, -1, -1));
  // Each half has four bytes of each colour: bring those of one colour together.
  const __m256i planes = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(pixels, by_colour),
                                                     _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  const __m128i red_green = _mm256_castsi256_si128(planes);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(out.red + x), red_green);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(out.green + x),
                   _mm_unpackhi_epi64(red_green, red_green));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(out.blue + x), _mm256_extracti128_si256(planes, 1));
}

template <typename Value>
LATTICE_AVX2_FMA void SplitLevelsAvx2(const uint8_t* levels, int pixels, PlaneRows<Value> out) {
  int x = 0;
  for (; x + 8 <= pixels; x += 8) {
    StoreEight(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(levels + 4 * x)), out, x);
  }
  SplitFrom(x, levels, 4, pixels, out);
}

template <typename Value>
LATTICE_AVX2_FMA void SplitRgbAvx2(const uint8_t* rgb, int64_t readable, int pixels,
                                   PlaneRows<Value> out) {
  const __m256i spread = _mm256_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1,  //
                                          0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1);
  int x = 0;
  // Two loads of 16 bytes, 12 of each used.
  for (; x + 8 <= pixels && int64_t{3} * x + 28 <= readable; x += 8) {
    const uint8_t* from = rgb + 3 * x;
    const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 12));
    const __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
    StoreEight(_mm256_shuffle_epi8(both, spread), out, x);
  }
  SplitFrom(x, rgb, 3, pixels, out);
}

template <typename Value>
constexpr PlaneSplits<Value> kAvx2Splits = {SplitLevelsAvx2<Value>, SplitRgbAvx2<Value>};

constexpr LetterboxRows kAvx2LetterboxRows = {BlendColumnsAvx2<3>, BlendColumnsAvx2<4>,
                                              BlendRowsAvx2, kAvx2Splits<float>,
                                              kAvx2Splits<uint8_t>};

#endif  // defined(__x86_64__)

}  // namespace

const LetterboxRows& PlainLetterboxRows() { return kPlainLetterboxRows; }

const LetterboxRows& BestLetterboxRows() {
#if defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (wide) return kAvx2LetterboxRows;
#endif
  return kPlainLetterboxRows;
}

}  // namespace lattice
