#include "native/letterbox/yuv_rows.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#define LATTICE_AVX2 __attribute__((target("avx2")))
#endif

namespace lattice {
namespace {

void ConvertPlain(const YuvRow& row, int width, YuvRowScratch&, uint8_t* out) {
  for (int x = 0; x < width; ++x, out += 4) {
    const RgbLevels pixel = row.At(x);
    out[0] = static_cast<uint8_t>(pixel.red);
    out[1] = static_cast<uint8_t>(pixel.green);
    out[2] = static_cast<uint8_t>(pixel.blue);
    out[3] = 0;
  }
}

constexpr YuvRows kPlainYuvRows = {ConvertPlain, false};

#if defined(__x86_64__)

// Sixteen values of 16 bits.
LATTICE_AVX2 inline __m256i Load(const int16_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

LATTICE_AVX2 inline __m256i LoadBytes(const uint8_t* from) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

LATTICE_AVX2 inline __m256i ThreeTimes(__m256i value) {
  return _mm256_add_epi16(value, _mm256_add_epi16(value, value));
}

// Three parts near, one part far.
LATTICE_AVX2 void SumDown(const ChromaRows& rows, int count, int16_t* out) {
  int x = 0;
  for (; x + 16 <= count; x += 16) {
    const __m256i sum =
        _mm256_add_epi16(ThreeTimes(LoadBytes(rows.near + x)), LoadBytes(rows.far + x));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + x), sum);
  }
  for (; x < count; ++x) out[x] = static_cast<int16_t>(3 * rows.near[x] + rows.far[x]);
  out[-1] = out[0];
  out[count] = out[count - 1];
}

// Chroma around 0 of the even and of the odd pixels of a block.
struct BlockChroma {
  __m256i even, odd;
};

LATTICE_AVX2 inline BlockChroma SumAcross(const int16_t* sums) {
  const __m256i near = ThreeTimes(Load(sums));
  const auto level = [&](const int16_t* far, int round) LATTICE_AVX2 {
    const __m256i sum = _mm256_add_epi16(_mm256_add_epi16(near, Load(far)),
                                         _mm256_set1_epi16(static_cast<int16_t>(round)));
    return _mm256_sub_epi16(_mm256_srli_epi16(sum, 4), _mm256_set1_epi16(128));
  };
  return {level(sums - 1, 8), level(sums + 1, 7)};
}

// (2 * value * factor / 65536, rounded down, + 1) / 2: value * factor / 65536, rounded.
LATTICE_AVX2 inline __m256i Scaled(__m256i twice, int factor) {
  const __m256i product =
      _mm256_mulhi_epi16(twice, _mm256_set1_epi16(static_cast<int16_t>(factor)));
  return _mm256_srai_epi16(_mm256_add_epi16(product, _mm256_set1_epi16(1)), 1);
}

// Sixteen pixels: R and G as alternating bytes, B in the low bytes.
struct SixteenPixels {
  __m256i red_green, blue;
};

// RgbOf with what exceeds 16 bits taken out of its factors: 91881 = 65536 + 26345, 46802 = 65536 -
// 18734, 116130 = 2 * 65536 - 14942.
LATTICE_AVX2 inline SixteenPixels RgbOfSixteen(__m256i luma, __m256i u, __m256i v) {
  const __m256i twice_u = _mm256_add_epi16(u, u);
  const __m256i twice_v = _mm256_add_epi16(v, v);
  const __m256i red = _mm256_add_epi16(_mm256_add_epi16(luma, v), Scaled(twice_v, 91881 - 65536));
  const __m256i blue =
      _mm256_add_epi16(_mm256_add_epi16(luma, twice_u), Scaled(twice_u, 116130 - 2 * 65536));
  const __m256i factors = _mm256_set1_epi32((65536 - 46802) << 16 | (-22554 & 0xFFFF));
  const __m256i half = _mm256_set1_epi32(1 << 15);
  const auto sum = [&](__m256i pairs) LATTICE_AVX2 {
    return _mm256_srai_epi32(_mm256_add_epi32(_mm256_madd_epi16(pairs, factors), half), 16);
  };
  const __m256i rest =
      _mm256_packs_epi32(sum(_mm256_unpacklo_epi16(u, v)), sum(_mm256_unpackhi_epi16(u, v)));
  const __m256i green = _mm256_add_epi16(_mm256_sub_epi16(luma, v), rest);
  const __m256i in_turn = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15));
  const __m256i spread = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, -1, 1, -1, 2, -1, 3, -1, 4, -1, 5, -1, 6, -1, 7, -1));
  return {_mm256_shuffle_epi8(_mm256_packus_epi16(red, green), in_turn),
          _mm256_shuffle_epi8(_mm256_packus_epi16(blue, blue), spread)};
}

// Even and odd pixels of a block -> pixels in order. Unpacking works on halves of a register.
LATTICE_AVX2 inline void StoreBlock(const SixteenPixels& even, const SixteenPixels& odd,
                                    uint8_t* out) {
  const __m256i even_low = _mm256_unpacklo_epi16(even.red_green, even.blue);
  const __m256i even_high = _mm256_unpackhi_epi16(even.red_green, even.blue);
  const __m256i odd_low = _mm256_unpacklo_epi16(odd.red_green, odd.blue);
  const __m256i odd_high = _mm256_unpackhi_epi16(odd.red_green, odd.blue);
  const __m256i first = _mm256_unpacklo_epi32(even_low, odd_low);
  const __m256i second = _mm256_unpackhi_epi32(even_low, odd_low);
  const __m256i third = _mm256_unpacklo_epi32(even_high, odd_high);
  const __m256i fourth = _mm256_unpackhi_epi32(even_high, odd_high);
  auto* to = reinterpret_cast<__m256i*>(out);
  _mm256_storeu_si256(to, _mm256_permute2x128_si256(first, second, 0x20));
  _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(third, fourth, 0x20));
  _mm256_storeu_si256(to + 2, _mm256_permute2x128_si256(first, second, 0x31));
  _mm256_storeu_si256(to + 3, _mm256_permute2x128_si256(third, fourth, 0x31));
}

LATTICE_AVX2 inline void ConvertBlock(const uint8_t* luma, const int16_t* cb, const int16_t* cr,
                                      uint8_t* out) {
  const __m256i levels = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(luma));
  const BlockChroma u = SumAcross(cb);
  const BlockChroma v = SumAcross(cr);
  const __m256i even = _mm256_and_si256(levels, _mm256_set1_epi16(0xFF));
  const __m256i odd = _mm256_srli_epi16(levels, 8);
  StoreBlock(RgbOfSixteen(even, u.even, v.even), RgbOfSixteen(odd, u.odd, v.odd), out);
}

LATTICE_AVX2 void ConvertAvx2(const YuvRow& row, int width, YuvRowScratch& scratch, uint8_t* out) {
  if (!ChromaIsInterpolated(row.chroma_width)) return ConvertPlain(row, width, scratch, out);
  int16_t* const cb = scratch.cb();
  int16_t* const cr = scratch.cr();
  SumDown(row.cb, row.chroma_width, cb);
  SumDown(row.cr, row.chroma_width, cr);
  int x = 0;
  for (; x + kYuvBlock <= width; x += kYuvBlock) {
    ConvertBlock(row.luma + x, cb + x / 2, cr + x / 2, out + 4 * x);
  }
  if (x == width) return;
  uint8_t rest[kYuvBlock] = {};
  std::memcpy(rest, row.luma + x, static_cast<size_t>(width - x));
  ConvertBlock(rest, cb + x / 2, cr + x / 2, out + 4 * x);
}

constexpr YuvRows kAvx2YuvRows = {ConvertAvx2, true};

#endif  // defined(__x86_64__)

}  // namespace

const YuvRows& PlainYuvRows() { return kPlainYuvRows; }

const YuvRows& BestYuvRows() {
#if defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx2");
  if (wide) return kAvx2YuvRows;
#endif
  return kPlainYuvRows;
}

}  // namespace lattice
