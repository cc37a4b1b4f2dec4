#include "native/boxes/score_scan.h"

#include <algorithm>
#include <cstddef>

namespace lattice {
namespace {

// Running maxima of this many anchors stay in the first-level cache while the class rows pass by.
constexpr int kTile = 1024;

struct Tile {
  alignas(64) float best[kTile];
  alignas(64) int32_t best_class[kTile];
};

[[gnu::always_inline]] inline void RaiseBest(const float* row, int32_t class_id, int count,
                                             Tile* tile) {
  for (int i = 0; i < count; ++i) {
    const bool better = row[i] > tile->best[i];
    tile->best[i] = better ? row[i] : tile->best[i];
    tile->best_class[i] = better ? class_id : tile->best_class[i];
  }
}

using RaiseBestRow = void (*)(const float*, int32_t, int, Tile*);

void RaiseBestPlain(const float* row, int32_t class_id, int count, Tile* tile) {
  RaiseBest(row, class_id, count, tile);
}

#if defined(__x86_64__)
// The same loop, compiled for wider registers.
__attribute__((target("avx2"))) void RaiseBestAvx2(const float* row, int32_t class_id, int count,
                                                   Tile* tile) {
  RaiseBest(row, class_id, count, tile);
}
#endif

RaiseBestRow ChooseRaiseBest() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return RaiseBestAvx2;
#endif
  return RaiseBestPlain;
}

}  // namespace

std::vector<Candidate> ScanScores(const float* scores, int classes, int anchors, float confidence) {
  static const RaiseBestRow raise_best = ChooseRaiseBest();
  std::vector<Candidate> found;
  Tile tile;
  for (int begin = 0; begin < anchors; begin += kTile) {
    const int count = std::min(kTile, anchors - begin);
    std::fill_n(tile.best, count, confidence);
    std::fill_n(tile.best_class, count, -1);
    for (int c = 0; c < classes; ++c) {
      raise_best(scores + static_cast<ptrdiff_t>(c) * anchors + begin, c, count, &tile);
    }
    for (int i = 0; i < count; ++i) {
      if (tile.best_class[i] >= 0) found.push_back({tile.best[i], begin + i, tile.best_class[i]});
    }
  }
  return found;
}

}  // namespace lattice
