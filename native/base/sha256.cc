#include "native/base/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "native/base/sha256_blocks.h"

namespace lattice {
namespace {

constexpr size_t kBlock = 64;

uint32_t ReadBigEndian(const uint8_t* bytes) {
  return static_cast<uint32_t>(bytes[0]) << 24 | static_cast<uint32_t>(bytes[1]) << 16 |
         static_cast<uint32_t>(bytes[2]) << 8 | static_cast<uint32_t>(bytes[3]);
}

std::array<uint32_t, 64> Schedule(const uint8_t* block) {
  std::array<uint32_t, 64> words;
  for (size_t i = 0; i < 16; ++i) words[i] = ReadBigEndian(block + 4 * i);
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t a = words[i - 15];
    const uint32_t b = words[i - 2];
    words[i] = words[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + words[i - 7] +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  return words;
}

}  // namespace

void CompressPortably(std::array<uint32_t, 8>* state, const uint8_t* blocks, size_t count) {
  for (size_t n = 0; n < count; ++n) {
    const auto words = Schedule(blocks + n * kBlock);
    auto [a, b, c, d, e, f, g, h] = *state;
    for (size_t i = 0; i < 64; ++i) {
      const uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                          ((e & f) ^ (~e & g)) + kSha256Constants[i] + words[i];
      const uint32_t t2 =
          (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1;
      d = c, c = b, b = a, a = t1 + t2;
    }
    const std::array<uint32_t, 8> added = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < 8; ++i) (*state)[i] += added[i];
  }
}

Sha256::Sha256(Sha256Code code)
    : state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19},
      partial_{},
      use_instructions_(code == Sha256Code::kFastest && HasShaInstructions()) {}

void Sha256::Compress(const uint8_t* blocks, size_t count) {
  if (use_instructions_) {
    CompressByInstructions(&state_, blocks, count);
  } else {
    CompressPortably(&state_, blocks, count);
  }
}

void Sha256::Update(std::span<const char> bytes) {
  const size_t held = bytes_ % kBlock;
  bytes_ += bytes.size();
  if (held != 0) {
    const size_t taken = std::min(kBlock - held, bytes.size());
    std::memcpy(partial_.data() + held, bytes.data(), taken);
    if (held + taken < kBlock) return;
    Compress(partial_.data(), 1);
    bytes = bytes.subspan(taken);
  }
  const size_t whole = bytes.size() / kBlock;
  if (whole != 0) Compress(reinterpret_cast<const uint8_t*>(bytes.data()), whole);
  const auto rest = bytes.subspan(whole * kBlock);
  std::copy(rest.begin(), rest.end(), partial_.begin());
}

Sha256Digest Sha256::Finish() {
  const uint64_t bits = bytes_ * 8;
  const size_t held = bytes_ % kBlock;
  // A set bit, zeros, and the length in the last 8 bytes of a block.
  std::array<char, 2 * kBlock> padding{};
  padding[0] = '\x80';
  const size_t size = (held < 56 ? kBlock : 2 * kBlock) - held;
  for (size_t i = 0; i < 8; ++i) padding[size - 1 - i] = static_cast<char>(bits >> (8 * i) & 0xff);
  Update(std::span(padding).first(size));
  Sha256Digest digest;
  for (size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)) & 0xff);
  }
  return digest;
}

Sha256Digest Sha256Of(std::span<const char> bytes) {
  Sha256 sha;
  sha.Update(bytes);
  return sha.Finish();
}

std::string Hex(const Sha256Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace lattice
