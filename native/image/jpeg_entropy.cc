#include "native/image/jpeg_entropy.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string_view>

namespace lattice {
namespace {

using std::string_view_literals::operator""sv;

constexpr size_t kLengths = 16;
// More than Peek16 reads past the last byte.
constexpr size_t kZerosBehind = 4;

constexpr std::string_view kLuminanceDc =
    "00010501010101010100000000000000000102030405060708090a0b"sv;
constexpr std::string_view kLuminanceAc =
    "0002010303020403050504040000017d01020300041105122131410613516107227114328191a1082342b1c11552d1"
    "f02433627282090a161718191a25262728292a3435363738393a434445464748494a535455565758595a6364656667"
    "68696a737475767778797a838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2"
    "c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa"sv;
constexpr std::string_view kChrominanceDc =
    "00030101010101010101010000000000000102030405060708090a0b"sv;
constexpr std::string_view kChrominanceAc =
    "00020102040403040705040400010277000102031104052131061241510761711322328108144291a1b1c109233352"
    "f0156272d10a162434e125f11718191a262728292a35363738393a434445464748494a535455565758595a63646566"
    "6768696a737475767778797a82838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9"
    "bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae2e3e4e5e6e7e8e9eaf2f3f4f5f6f7f8f9fa"sv;

uint8_t HexDigit(char digit) {
  return static_cast<uint8_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

HuffmanTable FromHex(std::string_view hex) {
  std::vector<uint8_t> definition(hex.size() / 2);
  for (size_t i = 0; i < definition.size(); ++i) {
    definition[i] = static_cast<uint8_t>(HexDigit(hex[2 * i]) << 4 | HexDigit(hex[2 * i + 1]));
  }
  HuffmanTable table;
  table.Define(definition);
  return table;
}

}  // namespace

size_t HuffmanTable::Define(std::span<const uint8_t> definition) {
  if (definition.size() < kLengths) return 0;
  const auto counts = definition.first(kLengths);
  const size_t count = std::accumulate(counts.begin(), counts.end(), size_t{0});
  if (count > symbols_.size() || count > definition.size() - kLengths) return 0;
  std::copy_n(definition.begin() + kLengths, count, symbols_.begin());
  uint32_t code = 0;  // left-aligned in 16 bits
  int symbol = 0;
  for (size_t i = 0; i < kLengths; ++i) {
    const size_t shift = kLengths - 1 - i;
    first_symbols_[i] = symbol - static_cast<int>(code >> shift);
    code += static_cast<uint32_t>(counts[i]) << shift;
    if (code > 1u << kLengths) {
      ends_ = {};  // as decoders do: a fault where it is used
      break;
    }
    ends_[i] = code;
    symbol += counts[i];
  }
  for (uint32_t first = 0; first < quick_.size(); ++first) {
    const Code code = FindLong(first << (kLengths - kQuickBits));
    quick_[first] =
        code.bits > kQuickBits ? uint16_t{0} : static_cast<uint16_t>(code.bits << 8 | code.symbol);
  }
  return kLengths + count;
}

HuffmanTable::Code HuffmanTable::FindLong(uint32_t next_16_bits) const {
  for (size_t i = 0; i < kLengths; ++i) {
    if (next_16_bits >= ends_[i]) continue;
    const int index = first_symbols_[i] + static_cast<int>(next_16_bits >> (kLengths - 1 - i));
    return {static_cast<int>(i) + 1, symbols_[static_cast<size_t>(index)]};
  }
  return {};
}

HuffmanTables::HuffmanTables() {
  dc[0] = FromHex(kLuminanceDc);
  ac[0] = FromHex(kLuminanceAc);
  dc[1] = FromHex(kChrominanceDc);
  ac[1] = FromHex(kChrominanceAc);
}

EntropyBits::EntropyBits(std::span<const uint8_t> bytes, size_t* at) {
  while (*at < bytes.size()) {
    const auto left = bytes.subspan(*at);
    const void* found = std::memchr(left.data(), 0xFF, left.size());
    const size_t plain =
        found == nullptr ? left.size()
                         : static_cast<size_t>(static_cast<const uint8_t*>(found) - left.data());
    data_.insert(data_.end(), left.begin(), left.begin() + static_cast<ptrdiff_t>(plain));
    *at += plain;
    // Any number of fill bytes may come before a marker, and decoders allow them before a 0, too.
    size_t code = *at;
    while (code < bytes.size() && bytes[code] == 0xFF) ++code;
    if (code >= bytes.size() || bytes[code] != 0) break;
    data_.push_back(0xFF);
    *at = code + 1;
  }
  size_ = data_.size();
  data_.resize(size_ + kZerosBehind);
}

std::span<const uint8_t> EntropyBits::rest() const {
  return std::span(data_).first(size_).subspan(std::min((position_ + 7) / 8, size_));
}

}  // namespace lattice
