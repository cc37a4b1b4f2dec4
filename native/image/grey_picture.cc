#include "native/image/grey_picture.h"

#include <type_traits>

#include "native/image/turn.h"

namespace lattice {
namespace {

// So many rows of bytes fit the 16 bits of a sum; of taller areas every second row counts, or
// fewer.
constexpr int kMostRows = 257;

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

template <typename Level>
Level LevelOf(float mean) {
  constexpr float kHalf = std::is_integral_v<Level> ? 0.5F : 0.0F;
  return static_cast<Level>(mean + kHalf);
}

// The luma of each range of columns, out of the sums of their bytes over `rows` rows.
template <typename Level>
void AddLuma(const std::vector<uint16_t>& sums, const std::vector<Range>& ranges, int rows,
             Level* out) {
  for (const Range& range : ranges) {
    uint32_t sum = 0;
    for (int x = range.begin; x < range.end; ++x) sum += sums[static_cast<size_t>(x)];
    *out++ = LevelOf<Level>(static_cast<float>(sum) / static_cast<float>(rows * range.size()));
  }
}

template <typename Level>
void AddRgb(const std::vector<uint16_t>& sums, const std::vector<Range>& ranges, int rows,
            Level* out) {
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
    *out++ = LevelOf<Level>((0.299F * static_cast<float>(red) + 0.587F * static_cast<float>(green) +
                             0.114F * static_cast<float>(blue)) /
                            static_cast<float>(rows * range.size()));
  }
}

std::vector<Range> PartsOf(int size, int parts) {
  std::vector<Range> ranges;
  ranges.reserve(static_cast<size_t>(parts));
  for (int i = 0; i < parts; ++i) ranges.push_back(PartOf(size, i, parts));
  return ranges;
}

}  // namespace

template <typename Level>
GreyPicture<Level> ReducedLuma(const Image& image, int (*reduced)(int side, int long_side)) {
  const bool is_rgb = image.layout == PixelLayout::kRgb;
  const bool quarter = Turn::Of(image.orientation).quarter;
  const int width = quarter ? image.height : image.width;
  const int height = quarter ? image.width : image.height;
  const int long_side = std::max(width, height);
  GreyPicture<Level> grey{reduced(width, long_side), reduced(height, long_side), {}};
  grey.levels.resize(static_cast<size_t>(grey.width) * static_cast<size_t>(grey.height));
  const PackedPlanes planes = StoredPlanes(image);
  const uint8_t* const plane = image.data.data() + planes.offsets[0];
  const std::vector<Range> columns = PartsOf(width, grey.width);
  std::vector<uint16_t> sums(static_cast<size_t>(width) * (is_rgb ? 3 : 1));
  Level* out = grey.levels.data();
  for (const Range& range : PartsOf(height, grey.height)) {
    const int rows = SumRows(plane, static_cast<size_t>(planes.pitches[0]), range, sums);
    (is_rgb ? AddRgb<Level> : AddLuma<Level>)(sums, columns, rows, out);
    out += grey.width;
  }
  return grey;
}

template GreyPicture<float> ReducedLuma(const Image& image, int (*reduced)(int, int));
template GreyPicture<uint8_t> ReducedLuma(const Image& image, int (*reduced)(int, int));

}  // namespace lattice
