#include "native/image/jpeg_scan.h"

#include <algorithm>

#include "native/image/decode.h"
#include "native/image/jpeg_markers.h"

namespace lattice {
namespace {

// Some cameras write a few bytes too many before the end marker. libjpeg accepts this many without
// a warning in a progressive file.
constexpr size_t kMostPadding = 7;
// Some recorders write their own record (`dhav` and a length) in place of the end marker.
constexpr size_t kMostTrailer = 64;

bool HasEndMarker(std::span<const uint8_t> bytes) {
  size_t at = 0;
  for (int marker = 0; marker >= 0;) {
    marker = jpeg::NextMarker(bytes, &at);
    if (marker == jpeg::kEndOfImage) return true;
  }
  return false;
}

// Accepts everything that libjpeg accepts without a warning (coefficients beyond the last one of a
// block are dropped), except codes that no table has: in the middle of its data libjpeg-turbo reads
// such a code as 0, and warns only if the blocks after it do not fit.
class ScanReader {
 public:
  ScanReader(const JpegFrame& frame, const JpegScan& scan) : frame_(frame), scan_(scan) {}

  std::optional<std::string> Read(std::span<const uint8_t> bytes, size_t* at) {
    const bool alone = scan_.parts.size() == 1;
    const JpegComponent& first = *scan_.parts[0].component;
    const int unit_width = 8 * frame_.most_across;
    const int unit_height = 8 * frame_.most_down;
    const int columns = alone ? first.columns : (frame_.width + unit_width - 1) / unit_width;
    const int rows = alone ? first.rows : (frame_.height + unit_height - 1) / unit_height;
    EntropyBits bits(bytes, at);
    int done = 0;
    for (int row = 0; row < rows; ++row) {
      // Pixel rows above: a row of blocks covers more than 8 where a component is stored smaller.
      const int above =
          std::min(frame_.height, alone ? row * unit_height / first.down : row * unit_height);
      for (int column = 0; column < columns; ++column, ++done) {
        if (scan_.restart_interval > 0 && done > 0 && done % scan_.restart_interval == 0) {
          if (!IsPadding(bits.rest(), false) || !Restart(bytes, at, done)) return Only(above);
          bits = EntropyBits(bytes, at);
        }
        if (!(alone ? ReadBlock(bits, scan_.parts[0], column, row) : ReadUnit(bits, column, row)) ||
            bits.ran_out()) {
          return Only(above);
        }
      }
    }
    if (IsPadding(bits.rest(), true) || IsTrailer(bits.rest(), bytes.subspan(*at))) {
      return std::nullopt;
    }
    return std::to_string(bits.rest().size()) +
           " bytes are left over after its last row, so some rows hold wrong blocks";
  }

 private:
  std::string Only(int row) const { return FirstRowsReadable(row, frame_.height); }

  // Elsewhere than at the end of a scan, such bytes are the rest of blocks that damage hides.
  static bool IsPadding(std::span<const uint8_t> rest, bool at_end) {
    if (at_end && rest.size() <= kMostPadding) return true;
    return std::all_of(rest.begin(), rest.end(), [](uint8_t byte) { return byte == 0; });
  }

  // The file ends soon behind the scan and has no end marker. In front of one, bytes that are left
  // over are the rest of blocks that damage hides.
  static bool IsTrailer(std::span<const uint8_t> rest, std::span<const uint8_t> behind) {
    return rest.size() + behind.size() <= kMostTrailer && !HasEndMarker(behind);
  }

  // Moves `*at` behind the marker that has to come after so many units.
  bool Restart(std::span<const uint8_t> bytes, size_t* at, int done) {
    while (*at < bytes.size() && bytes[*at] == 0xFF) ++*at;
    const int number = (done / scan_.restart_interval - 1) % 8;
    if (*at >= bytes.size() || bytes[*at] != jpeg::kFirstRestart + number) return false;
    ++*at;
    blocks_without_ac_ = 0;
    return true;
  }

  bool ReadUnit(EntropyBits& bits, int column, int row) {
    for (const JpegScan::Part& part : scan_.parts) {
      const int across = part.component->across;
      const int down = part.component->down;
      for (int y = 0; y < down; ++y) {
        for (int x = 0; x < across; ++x) {
          if (!ReadBlock(bits, part, column * across + x, row * down + y)) return false;
        }
      }
    }
    return true;
  }

  bool ReadBlock(EntropyBits& bits, const JpegScan::Part& part, int column, int row) {
    if (!frame_.progressive) return ReadDc(bits, part) && ReadSequentialAc(bits, part);
    if (scan_.first == 0) {
      if (scan_.high == 0) return ReadDc(bits, part);
      bits.Take(1);
      return true;
    }
    JpegComponent& component = *part.component;
    uint64_t& filled =
        component.filled[static_cast<size_t>(row) * static_cast<size_t>(component.stride) +
                         static_cast<size_t>(column)];
    return scan_.high == 0 ? ReadFirstAc(bits, part, &filled) : RefineAc(bits, part, &filled);
  }

  static bool ReadDc(EntropyBits& bits, const JpegScan::Part& part) {
    const int size = bits.TakeSymbol(*part.dc);
    if (size < 0 || size > 15) return false;
    bits.Take(size);
    return true;
  }

  static bool ReadSequentialAc(EntropyBits& bits, const JpegScan::Part& part) {
    for (int k = 1; k < 64; ++k) {
      const int symbol = bits.TakeSymbol(*part.ac);
      if (symbol < 0) return false;
      const int zeros = symbol >> 4;
      const int size = symbol & 15;
      if (size == 0 && zeros != 15) break;
      k += zeros;
      bits.Take(size);
    }
    return true;
  }

  bool ReadFirstAc(EntropyBits& bits, const JpegScan::Part& part, uint64_t* filled) {
    if (blocks_without_ac_ > 0) {
      --blocks_without_ac_;
      return true;
    }
    for (int k = scan_.first; k <= scan_.last; ++k) {
      const int symbol = bits.TakeSymbol(*part.ac);
      if (symbol < 0) return false;
      const int zeros = symbol >> 4;
      const int size = symbol & 15;
      if (size == 0 && zeros != 15) {
        TakeBlocksWithoutAc(bits, zeros);
        --blocks_without_ac_;
        break;
      }
      k += zeros;
      bits.Take(size);
      if (size != 0 && k < 64) *filled |= uint64_t{1} << k;
    }
    return true;
  }

  // Reads one more bit of each nonzero coefficient, and the coefficients that become 1 or -1 with
  // it.
  bool RefineAc(EntropyBits& bits, const JpegScan::Part& part, uint64_t* filled) {
    int k = scan_.first;
    for (; blocks_without_ac_ == 0 && k <= scan_.last; ++k) {
      const int symbol = bits.TakeSymbol(*part.ac);
      if (symbol < 0) return false;
      int zeros = symbol >> 4;
      const int size = symbol & 15;
      if (size > 1) return false;
      if (size == 1) {
        bits.Take(1);
      } else if (zeros != 15) {
        TakeBlocksWithoutAc(bits, zeros);
        break;
      }
      for (; k <= scan_.last; ++k) {
        if ((*filled >> k & 1) != 0) {
          bits.Take(1);
        } else if (--zeros < 0) {
          break;
        }
      }
      if (size == 1 && k < 64) *filled |= uint64_t{1} << k;
    }
    if (blocks_without_ac_ > 0) {
      for (; k <= scan_.last; ++k) {
        if ((*filled >> k & 1) != 0) bits.Take(1);
      }
      --blocks_without_ac_;
    }
    return true;
  }

  void TakeBlocksWithoutAc(EntropyBits& bits, int size) {
    blocks_without_ac_ = (1 << size) + static_cast<int>(bits.Take(size));
  }

  const JpegFrame& frame_;
  const JpegScan& scan_;
  int blocks_without_ac_ = 0;
};

}  // namespace

std::optional<std::string> ReadJpegScan(std::span<const uint8_t> bytes, size_t* at,
                                        const JpegFrame& frame, const JpegScan& scan) {
  return ScanReader(frame, scan).Read(bytes, at);
}

}  // namespace lattice
