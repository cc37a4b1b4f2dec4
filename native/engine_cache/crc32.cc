#include "native/engine_cache/crc32.h"

#include <array>

namespace lattice {
namespace {

constexpr std::array<uint32_t, 256> kTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ ((sum & 1) != 0 ? 0xedb88320u : 0);
    table[byte] = sum;
  }
  return table;
}();

}  // namespace

uint32_t Crc32(std::span<const char> bytes, uint32_t before) {
  uint32_t sum = ~before;
  for (const char byte : bytes) {
    sum = sum >> 8 ^ kTable[(sum ^ static_cast<unsigned char>(byte)) & 0xff];
  }
  return ~sum;
}

}  // namespace lattice
