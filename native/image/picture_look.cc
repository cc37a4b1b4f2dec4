#include "native/image/picture_look.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "native/image/turn.h"

namespace lattice {
namespace {

// So many rows of bytes fit the 16 bits of a sum; of taller areas every second row counts, or
// fewer.
constexpr int kMostRows = 257;

// Levels of a picture, row by row.
struct Grey {
  int width;
  int height;
  std::vector<float> levels;
  float at(int x, int y) const {
    return levels[static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)];
  }
};

struct Range {
  int begin;
  int end;
  int size() const { return end - begin; }
};

// Part `index` of `parts` equal ones, in whole pixels: one at least.
Range PartOf(int size, int index, int parts) {
  const auto at = [&](int i) { return static_cast<int>(int64_t{i} * size / parts); };
  return {at(index), std::max(at(index) + 1, at(index + 1))};
}

int ReducedSide(int side, int long_side) {
  if (long_side <= kReducedSide) return side;
  return std::max(1, static_cast<int>(std::lround(double{kReducedSide} * side / long_side)));
}

// Sums of the columns over the rows; how many rows were added.
int SumRows(const uint8_t* plane, size_t pitch, Range rows, std::vector<uint16_t>& sums) {
  std::fill(sums.begin(), sums.end(), uint16_t{0});
  const int step = 1 + (rows.size() - 1) / kMostRows;
  const int added = (rows.size() + step - 1) / step;
  const size_t stride = static_cast<size_t>(step) * pitch;
  uint16_t* __restrict const out = sums.data();
  const uint8_t* __restrict row = plane + static_cast<size_t>(rows.begin) * pitch;
  const size_t count = sums.size();
  // Two rows at once: half as many reads and writes of the sums.
  for (int pair = 0; pair < added / 2; ++pair, row += 2 * stride) {
    for (size_t x = 0; x < count; ++x) {
      out[x] = static_cast<uint16_t>(out[x] + row[x] + row[x + stride]);
    }
  }
  for (size_t x = 0; added % 2 == 1 && x < count; ++x) {
    out[x] = static_cast<uint16_t>(out[x] + row[x]);
  }
  return added;
}

// The luma of each range of columns, out of the sums of their bytes over `rows` rows.
void AddLuma(const std::vector<uint16_t>& sums, const std::vector<Range>& ranges, int rows,
             float* out) {
  for (const Range& range : ranges) {
    uint32_t sum = 0;
    for (int x = range.begin; x < range.end; ++x) sum += sums[static_cast<size_t>(x)];
    *out++ = static_cast<float>(sum) / static_cast<float>(rows * range.size());
  }
}

void AddRgb(const std::vector<uint16_t>& sums, const std::vector<Range>& ranges, int rows,
            float* out) {
  for (const Range& range : ranges) {
    uint32_t red = 0;
    uint32_t green = 0;
    uint32_t blue = 0;
    const uint16_t* at = sums.data() + static_cast<size_t>(range.begin) * 3;
    for (int x = 0; x < range.size(); ++x, at += 3) {
      red += at[0];
      green += at[1];
      blue += at[2];
    }
    *out++ = (0.299F * static_cast<float>(red) + 0.587F * static_cast<float>(green) +
              0.114F * static_cast<float>(blue)) /
             static_cast<float>(rows * range.size());
  }
}

std::vector<Range> PartsOf(int size, int parts) {
  std::vector<Range> ranges;
  ranges.reserve(static_cast<size_t>(parts));
  for (int i = 0; i < parts; ++i) ranges.push_back(PartOf(size, i, parts));
  return ranges;
}

// The stored picture, smaller.
Grey Reduced(const Image& image) {
  const bool is_rgb = image.layout == PixelLayout::kRgb;
  const bool quarter = Turn::Of(image.orientation).quarter;
  const int width = quarter ? image.height : image.width;
  const int height = quarter ? image.width : image.height;
  const int long_side = std::max(width, height);
  Grey grey{ReducedSide(width, long_side), ReducedSide(height, long_side), {}};
  grey.levels.resize(static_cast<size_t>(grey.width) * static_cast<size_t>(grey.height));
  const PackedPlanes planes = StoredPlanes(image);
  const uint8_t* const plane = image.data.data() + planes.offsets[0];
  const std::vector<Range> columns = PartsOf(width, grey.width);
  std::vector<uint16_t> sums(static_cast<size_t>(width) * (is_rgb ? 3 : 1));
  float* out = grey.levels.data();
  for (const Range& range : PartsOf(height, grey.height)) {
    const int rows = SumRows(plane, static_cast<size_t>(planes.pitches[0]), range, sums);
    (is_rgb ? AddRgb : AddLuma)(sums, columns, rows, out);
    out += grey.width;
  }
  return grey;
}

// Sums are kept by column, since those of one row would have to be added one after the other.
double SumOf(const std::vector<float>& columns) {
  return std::accumulate(columns.begin(), columns.end(), 0.0);
}

double Variance(const Grey& grey) {
  constexpr float kMiddle = 128;
  std::vector<float> sums(static_cast<size_t>(grey.width));
  std::vector<float> squares(sums.size());
  const float* row = grey.levels.data();
  for (int y = 0; y < grey.height; ++y, row += grey.width) {
    for (size_t x = 0; x < sums.size(); ++x) {
      const float level = row[x] - kMiddle;
      sums[x] += level;
      squares[x] += level * level;
    }
  }
  const auto count = static_cast<double>(grey.levels.size());
  const double mean = SumOf(sums) / count;
  return SumOf(squares) / count - mean * mean;
}

// The mean over the pixels that have four neighbours.
double MeanSquaredLaplacian(const Grey& grey) {
  const auto width = static_cast<size_t>(grey.width);
  std::vector<float> squares(width - 2);
  for (int y = 1; y < grey.height - 1; ++y) {
    const float* const row = &grey.levels[static_cast<size_t>(y) * width + 1];
    for (size_t x = 0; x < squares.size(); ++x) {
      const float* const at = row + x;
      const float value = 4 * at[0] - at[-1] - at[1] - *(at - width) - at[width];
      squares[x] += value * value;
    }
  }
  return SumOf(squares) / (static_cast<double>(squares.size()) * (grey.height - 2));
}

float SharpnessOf(const Grey& grey) {
  if (grey.width < 3 || grey.height < 3) return 0;
  // Less is what rounding leaves of one colour.
  constexpr double kLeastVariance = 0.01;
  const double variance = Variance(grey);
  return variance < kLeastVariance ? 0 : static_cast<float>(MeanSquaredLaplacian(grey) / variance);
}

uint8_t CellOf(const Grey& grey, StoredPoint cell) {
  const Range columns = PartOf(grey.width, cell.x, kLookSide);
  const Range rows = PartOf(grey.height, cell.y, kLookSide);
  float sum = 0;
  for (int y = rows.begin; y < rows.end; ++y) {
    for (int x = columns.begin; x < columns.end; ++x) sum += grey.at(x, y);
  }
  return static_cast<uint8_t>(std::lround(sum / static_cast<float>(rows.size() * columns.size())));
}

}  // namespace

PictureLook LookOf(const Image& image) {
  const Grey grey = Reduced(image);
  const Turn turn = Turn::Of(image.orientation);
  PictureLook look;
  for (int y = 0; y < kLookSide; ++y) {
    for (int x = 0; x < kLookSide; ++x) {
      look.grey[static_cast<size_t>(y * kLookSide + x)] =
          CellOf(grey, turn.At(x, y, kLookSide, kLookSide));
    }
  }
  look.sharpness = SharpnessOf(grey);
  return look;
}

}  // namespace lattice
