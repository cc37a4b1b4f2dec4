// The places of the tiles of a picture.
#ifndef LATTICE_TILES_TILE_GRID_H_
#define LATTICE_TILES_TILE_GRID_H_

#include <vector>

#include "native/image/image_size.h"
#include "native/image/picture_view.h"
#include "native/model/input_size.h"

namespace lattice {

inline constexpr int kMostTiles = 64;      // of a grid or a size that is asked for
inline constexpr int kMostAutoTiles = 16;  // of a grid that the picture's size gives

// A request wants `columns` and `rows`, or a `size`, or, where all are 0, what suits the
// picture.
struct TileSpec {
  int columns = 0;
  int rows = 0;
  int size = 0;          // of both sides of a tile, in source pixels
  double overlap = 0.2;  // share of a tile's side that the next tile covers too, 0 to 0.5
};

// Tiles of one size, evenly spaced: the outer ones end at the picture's borders.
struct TileGrid {
  int columns = 1;
  int rows = 1;
  int width = 0;  // of a tile, in source pixels
  int height = 0;
  int source_width = 0;
  int source_height = 0;

  bool is_whole() const { return columns * rows == 1; }
  // Inputs of the network: the picture, and its tiles where there are several.
  int parts() const { return is_whole() ? 1 : 1 + columns * rows; }
  // The picture first, then its tiles row by row.
  std::vector<Rect> Parts() const;
};

// A `size` that would give more than kMostTiles is enlarged until it does not. By the picture's
// size: tiles of about the input's own, so that small objects keep their pixels; a picture not much
// larger than the input stays whole.
TileGrid GridFor(const TileSpec& spec, const ImageSize& picture, const InputSize& input);

}  // namespace lattice

#endif  // LATTICE_TILES_TILE_GRID_H_
