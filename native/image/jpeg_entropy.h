// The entropy-coded data of a JPEG: its bits and its Huffman codes, without the pixels.
#ifndef LATTICE_IMAGE_JPEG_ENTROPY_H_
#define LATTICE_IMAGE_JPEG_ENTROPY_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lattice {

class HuffmanTable {
 public:
  // `definition` as in a DHT segment: how many codes each of the 16 lengths has, then a symbol for
  // each code. Returns the bytes that it takes, 0 where they are not there.
  size_t Define(std::span<const uint8_t> definition);

  struct Code {
    int bits = 0;  // 0: these bits are no code
    int symbol = 0;
  };
  Code Find(uint32_t next_16_bits) const {
    const uint16_t quick = quick_[next_16_bits >> (16 - kQuickBits)];
    return quick == 0 ? FindLong(next_16_bits) : Code{quick >> 8, quick & 0xFF};
  }

 private:
  static constexpr int kQuickBits = 9;  // most codes are no longer

  Code FindLong(uint32_t next_16_bits) const;

  // Length and symbol of the code by its first bits; 0 for a longer code.
  std::array<uint16_t, 1 << kQuickBits> quick_ = {};
  std::array<uint32_t, 16> ends_ = {};      // first 16 bits that are too high for a code so long
  std::array<int, 16> first_symbols_ = {};  // of a code of 16 zero bits, could it be so long
  std::array<uint8_t, 256> symbols_ = {};
};

// The tables of a file that has none, as frames of Motion JPEG: those of the standard's annex K.
struct HuffmanTables {
  HuffmanTables();

  std::array<HuffmanTable, 4> dc;
  std::array<HuffmanTable, 4> ac;
};

// The data between two markers, stuffing taken out.
class EntropyBits {
 public:
  // Starts at `*at` and moves it to the next marker, or to the end.
  EntropyBits(std::span<const uint8_t> bytes, size_t* at);

  // Takes at most 16 bits; they are zeros past the end.
  uint32_t Take(int bits) {
    const uint32_t value = Peek16() >> (16 - bits);
    position_ += static_cast<size_t>(bits);
    return value;
  }
  // -1 for bits that are no code.
  int TakeSymbol(const HuffmanTable& table) {
    const HuffmanTable::Code code = table.Find(Peek16());
    position_ += static_cast<size_t>(code.bits);
    return code.bits == 0 ? -1 : code.symbol;
  }
  bool ran_out() const { return position_ > 8 * size_; }
  // The whole bytes that no code has used.
  std::span<const uint8_t> rest() const;

 private:
  uint32_t Peek16() const {
    const uint8_t* at = data_.data() + std::min(position_ / 8, size_);
    const uint32_t bits =
        static_cast<uint32_t>(at[0]) << 16 | static_cast<uint32_t>(at[1]) << 8 | at[2];
    return bits >> (8 - position_ % 8) & 0xFFFF;
  }

  std::vector<uint8_t> data_;  // and some zeros
  size_t size_ = 0;
  size_t position_ = 0;  // in bits
};

}  // namespace lattice

#endif  // LATTICE_IMAGE_JPEG_ENTROPY_H_
