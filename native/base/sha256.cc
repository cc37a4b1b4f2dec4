#include "native/base/sha256.h"

#include <cstdint>
#include <cstdio>

#include "native/base/sha256_blocks.h"

namespace lattice {
namespace {

void AddBlocks(std::string_view bytes, Sha256State& state) {
  static const AddSha256Blocks of_cpu = AddSha256BlocksWithCpu();
  const AddSha256Blocks add = of_cpu != nullptr ? of_cpu : AddSha256BlocksPortable;
  add(bytes.data(), bytes.size() / kSha256BlockBytes, state);
}

}  // namespace

std::string Sha256(std::string_view bytes) {
  Sha256State state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const size_t whole = bytes.size() / kSha256BlockBytes * kSha256BlockBytes;
  AddBlocks(bytes.substr(0, whole), state);
  // The rest, a bit that marks its end, and the number of bits in the last 8 bytes of a block.
  std::string rest(bytes.substr(whole));
  rest += '\x80';
  while (rest.size() % kSha256BlockBytes != kSha256BlockBytes - 8) rest += '\0';
  const uint64_t bits = uint64_t{bytes.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) rest += static_cast<char>(bits >> shift & 0xff);
  AddBlocks(rest, state);
  std::string text;
  for (const uint32_t word : state) {
    char digits[9];
    (void)std::snprintf(digits, sizeof digits, "%08x", word);
    text += digits;
  }
  return text;
}

}  // namespace lattice
