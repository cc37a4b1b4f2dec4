// The boxes of a picture's parts -> boxes of the picture.
#ifndef LATTICE_TILES_MERGE_TILES_H_
#define LATTICE_TILES_MERGE_TILES_H_

#include <span>

#include "native/boxes/detections.h"
#include "native/tiles/tile_grid.h"

namespace lattice {

// `found` has the boxes of each of grid.Parts(), in pixels of that part, chosen by `options`.
//
// A box that ends at an inner border of its tile, or within 1/80 of the tile's longer side of it,
// is a piece of something, and the tile's neighbour or the whole picture has all of it: it is left
// out. So is a box that fills more than half of its tile and that the whole picture has not (none
// of its class that overlaps it by more than 0.3): on coco128 every one of them was wrong. The
// others are taken best first, each unless a better one of its class
// - overlaps it by more than 0.5, or options.iou where that is less: the boxes of one thing at two
//   scales differ more than those of one network, or
// - is of another part, no smaller, and covers more than 0.8 of it.
// Measured on coco128: docs/tiles.md. Thread-safe.
Detections MergeTiles(const TileGrid& grid, std::span<const Detections> found,
                      const DetectionOptions& options);

}  // namespace lattice

#endif  // LATTICE_TILES_MERGE_TILES_H_
