#include "native/tiles/tile_grid.h"

#include <algorithm>
#include <cmath>

namespace lattice {
namespace {

// A tile by the picture's size may be so much larger than the input.
constexpr double kMostShrunk = 1.5;
// The factor by which tiles are enlarged while there are too many of them.
constexpr double kStep = 1.05;

// The number of tiles of `side` pixels, each of which overlaps the next, that cover `length`.
int CountFor(int length, double side, double overlap) {
  if (side >= length) return 1;
  return 1 + static_cast<int>(std::ceil((length - side) / (side * (1 - overlap)) - 1e-9));
}

// The side of `count` tiles that just cover `length`.
int SideFor(int length, int count, double overlap) {
  const double side = length / (count - (count - 1) * overlap);
  return std::clamp(static_cast<int>(std::ceil(side - 1e-9)), 1, length);
}

// Tiles of `spec.size`, or of about the input's size, enlarged while they are too many.
TileGrid GridBySide(const TileSpec& spec, const ImageSize& picture, const InputSize& input) {
  double width = spec.size > 0 ? spec.size : kMostShrunk * input.width;
  double height = spec.size > 0 ? spec.size : kMostShrunk * input.height;
  const int most = spec.size > 0 ? kMostTiles : kMostAutoTiles;
  for (;; width *= kStep, height *= kStep) {
    const int columns = CountFor(picture.width, width, spec.overlap);
    const int rows = CountFor(picture.height, height, spec.overlap);
    if (columns > most || rows > most || columns * rows > most) continue;
    return {columns, rows, std::min(picture.width, static_cast<int>(width)),
            std::min(picture.height, static_cast<int>(height))};
  }
}

int Start(int length, int side, int index, int count) {
  if (count == 1) return 0;
  return static_cast<int>(std::lround(static_cast<double>(length - side) * index / (count - 1)));
}

}  // namespace

std::vector<Rect> TileGrid::Parts() const {
  std::vector<Rect> parts{{0, 0, source_width, source_height}};
  if (is_whole()) return parts;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      parts.push_back({Start(source_width, width, column, columns),
                       Start(source_height, height, row, rows), width, height});
    }
  }
  return parts;
}

TileGrid GridFor(const TileSpec& spec, const ImageSize& picture, const InputSize& input) {
  TileGrid grid{spec.columns, spec.rows};
  if (spec.columns == 0) grid = GridBySide(spec, picture, input);
  // A tile has a pixel at least.
  grid.columns = std::min(grid.columns, picture.width);
  grid.rows = std::min(grid.rows, picture.height);
  if (spec.size == 0) {
    grid.width = SideFor(picture.width, grid.columns, spec.overlap);
    grid.height = SideFor(picture.height, grid.rows, spec.overlap);
  }
  grid.source_width = picture.width;
  grid.source_height = picture.height;
  return grid;
}

}  // namespace lattice
