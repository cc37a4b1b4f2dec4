#include "native/image/picture_look.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "native/image/grey_picture.h"
#include "native/image/turn.h"

namespace lattice {
namespace {

using Grey = GreyPicture<float>;

int ReducedSide(int side, int long_side) {
  if (long_side <= kReducedSide) return side;
  return std::max(1, static_cast<int>(std::lround(double{kReducedSide} * side / long_side)));
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
  const Grey grey = ReducedLuma<float>(image, ReducedSide);
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
