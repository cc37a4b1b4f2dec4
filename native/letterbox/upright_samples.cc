#include "native/letterbox/upright_samples.h"

#include <algorithm>
#include <cstring>

#include "native/image/turn.h"
#include "native/letterbox/yuv_rows.h"

namespace lattice {
namespace {

// Shown columns that are converted together: their levels fill whole cache lines.
constexpr size_t kTile = 16;

// Converts stored rows; keeps a tile of them.
class StoredRows {
 public:
  explicit StoredRows(const PictureView& source)
      : width_(source.height),
        height_(source.width),
        packed_(source.planes),
        scratch_(width_),
        tile_(kTile * YuvRowBytes(width_)) {
    for (size_t i = 0; i < 3; ++i) planes_[i] = source.bytes + packed_.offsets[i];
  }

  // Valid until the next call with the same index, 0 to kTile - 1.
  const uint8_t* Convert(int y, size_t index) {
    uint8_t* const to = tile_.data() + index * YuvRowBytes(width_);
    BestYuvRows().convert(YuvRowAt(planes_, packed_.pitches, width_, height_, y), width_, scratch_,
                          to);
    return to;
  }

 private:
  const int width_;
  const int height_;
  const PackedPlanes packed_;
  const uint8_t* planes_[3];
  YuvRowScratch scratch_;
  ByteBuffer tile_;
};

}  // namespace

UprightSamples::UprightSamples(const PictureView& source, const SampledPositions& sampled)
    : row_bytes_(4 * sampled.columns.size()),
      levels_(row_bytes_ * sampled.rows.size(), source.memory) {
  const Turn turn = Turn::Of(source.orientation);
  const auto stored = [&](int x, int y) { return turn.At(x, y, source.width, source.height); };
  std::vector<size_t> offsets;  // of the sampled shown rows in a stored row
  for (const int y : sampled.rows) offsets.push_back(4 * static_cast<size_t>(stored(0, y).x));

  StoredRows rows(source);
  for (size_t begin = 0; begin < sampled.columns.size(); begin += kTile) {
    const size_t count = std::min(kTile, sampled.columns.size() - begin);
    const uint8_t* columns[kTile];
    for (size_t i = 0; i < count; ++i) {
      const int x = sampled.columns[begin + i];
      const bool again = i > 0 && x == sampled.columns[begin + i - 1];
      columns[i] = again ? columns[i - 1] : rows.Convert(stored(x, 0).y, i);
    }
    uint8_t* to = levels_.data() + 4 * begin;
    for (const size_t offset : offsets) {
      for (size_t i = 0; i < count; ++i) std::memcpy(to + 4 * i, columns[i] + offset, 4);
      to += row_bytes_;
    }
  }
}

}  // namespace lattice
