#include "native/image/box_descriptor.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "native/image/turn.h"

namespace lattice {
namespace {

constexpr int kCells = 24;  // of a side of the box
constexpr int kBlocks = 4;  // of a side
constexpr int kOrientations = 4;

int DescribedSide(int side, int long_side) {
  const int step = 1 + (long_side - 1) / kDescribedSide;
  return (side + step - 1) / step;
}

// Turned as it is shown.
GreyPicture<uint8_t> Upright(GreyPicture<uint8_t> stored, int orientation) {
  if (orientation == 1) return stored;
  const Turn turn = Turn::Of(orientation);
  GreyPicture<uint8_t> shown{
      turn.quarter ? stored.height : stored.width, turn.quarter ? stored.width : stored.height, {}};
  shown.levels.reserve(stored.levels.size());
  for (int y = 0; y < shown.height; ++y) {
    for (int x = 0; x < shown.width; ++x) {
      const StoredPoint at = turn.At(x, y, shown.width, shown.height);
      shown.levels.push_back(stored.at(at.x, at.y));
    }
  }
  return shown;
}

// A place on an axis of `size` pixels; 0 where it is no number.
double Within(double place, int size) {
  return place > 0 ? std::min(place, static_cast<double>(size)) : 0;
}

// The pixels that each cell of an axis touches, out of `size`.
std::array<Range, kCells> CellsOf(double begin, double end, int size) {
  std::array<Range, kCells> cells{};
  const auto edge = [&](size_t i) {
    return Within(begin + (end - begin) * static_cast<double>(i) / kCells, size);
  };
  for (size_t i = 0; i < cells.size(); ++i) {
    cells[i].begin = std::min(static_cast<int>(edge(i)), size - 1);
    cells[i].end = std::max(static_cast<int>(std::ceil(edge(i + 1))), cells[i].begin + 1);
  }
  return cells;
}

float MeanOf(const GreyPicture<uint8_t>& luma, Range columns, Range rows) {
  uint32_t sum = 0;
  for (int y = rows.begin; y < rows.end; ++y) {
    const uint8_t* const row =
        &luma.levels[static_cast<size_t>(y) * static_cast<size_t>(luma.width)];
    sum = std::accumulate(row + columns.begin, row + columns.end, sum);
  }
  return static_cast<float>(sum) / static_cast<float>(rows.size() * columns.size());
}

// The quarter of 180 degrees in which a gradient lies, whichever of both ways it points.
size_t OrientationOf(float across, float down) {
  if (down < 0) return OrientationOf(-across, -down);
  if (down == 0) return 0;
  if (across > 0) return down < across ? 0 : 1;
  return -across < down ? 2 : 3;
}

}  // namespace

DescribedPicture DescribedPictureOf(const Image& image) {
  auto luma = ReducedLuma<uint8_t>(image, DescribedSide);
  return {image.width, image.height, Upright(std::move(luma), image.orientation)};
}

BoxDescriptor DescriptorOf(const DescribedPicture& picture, float x1, float y1, float x2,
                           float y2) {
  const GreyPicture<uint8_t>& luma = picture.luma;
  const double across = static_cast<double>(luma.width) / picture.width;
  const double down = static_cast<double>(luma.height) / picture.height;
  const auto columns = CellsOf(x1 * across, x2 * across, luma.width);
  const auto rows = CellsOf(y1 * down, y2 * down, luma.height);
  std::array<std::array<float, kCells>, kCells> cells{};
  for (size_t y = 0; y < kCells; ++y) {
    for (size_t x = 0; x < kCells; ++x) cells[y][x] = MeanOf(luma, columns[x], rows[y]);
  }
  constexpr size_t kBlock = kCells / kBlocks;
  std::array<float, std::tuple_size_v<BoxDescriptor>> sums{};
  for (size_t y = 1; y + 1 < kCells; ++y) {
    for (size_t x = 1; x + 1 < kCells; ++x) {
      const float right = cells[y][x + 1] - cells[y][x - 1];
      const float below = cells[y + 1][x] - cells[y - 1][x];
      const size_t block = y / kBlock * kBlocks + x / kBlock;
      sums[block * kOrientations + OrientationOf(right, below)] +=
          std::sqrt(right * right + below * below);
    }
  }
  constexpr float kFaint = 20;  // less contrast than this is noise
  constexpr float kGain = 3;    // more than a third of all contrast is rare
  const float squares = std::inner_product(sums.begin(), sums.end(), sums.begin(), 0.0F);
  const float scale = kGain / (std::sqrt(squares) + kFaint);
  BoxDescriptor descriptor{};
  for (size_t i = 0; i < sums.size(); ++i) {
    descriptor[i] = static_cast<uint8_t>(std::lround(255 * std::min(1.0F, sums[i] * scale)));
  }
  return descriptor;
}

}  // namespace lattice
