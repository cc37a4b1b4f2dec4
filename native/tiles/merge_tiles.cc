#include "native/tiles/merge_tiles.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <vector>

#include "native/boxes/box_math.h"

namespace lattice {
namespace {

constexpr float kMostOverlap = 0.5f;
constexpr float kMostCovered = 0.8f;
// A box that ends so near to a border of its tile, as a share of the tile, ends there.
constexpr float kAtBorder = 1.0f / 80;
constexpr float kLeastAtBorder = 2;  // source pixels
// Share of a tile. A box that fills more of it is large in the whole picture too, and is found
// there.
constexpr float kLargeShare = 0.5f;
constexpr float kConfirmingOverlap = 0.3f;

struct PartBox {
  Detection box;  // in pixels of the picture
  size_t part;
};

bool IsPiece(const Detection& box, const Rect& part, const TileGrid& grid) {
  const auto width = static_cast<float>(part.width);
  const auto height = static_cast<float>(part.height);
  const float near = std::max(kLeastAtBorder, kAtBorder * std::max(width, height));
  return (part.left > 0 && box.x1 <= near) || (part.top > 0 && box.y1 <= near) ||
         (part.left + part.width < grid.source_width && box.x2 >= width - near) ||
         (part.top + part.height < grid.source_height && box.y2 >= height - near);
}

Box BoxOf(const Detection& box) { return {box.x1, box.y1, box.x2, box.y2}; }

bool IsLarge(const Detection& box, const Rect& tile) {
  return AreaOf(BoxOf(box)) >
         kLargeShare * static_cast<float>(tile.width) * static_cast<float>(tile.height);
}

bool IsIn(const Detections& whole, const Detection& box) {
  return std::any_of(whole.boxes.begin(), whole.boxes.end(), [&](const Detection& other) {
    return other.class_id == box.class_id &&
           IntersectionOverUnion(BoxOf(other), BoxOf(box)) > kConfirmingOverlap;
  });
}

Detection Moved(Detection box, const Rect& part) {
  const auto left = static_cast<float>(part.left);
  const auto top = static_cast<float>(part.top);
  box.x1 += left;
  box.x2 += left;
  box.y1 += top;
  box.y2 += top;
  return box;
}

// Best first; of equal scores the earlier part's.
std::vector<PartBox> Ordered(const TileGrid& grid, std::span<const Detections> found) {
  const std::vector<Rect> parts = grid.Parts();
  std::vector<PartBox> boxes;
  for (size_t part = 0; part < found.size(); ++part) {
    for (const Detection& box : found[part].boxes) {
      if (IsPiece(box, parts[part], grid)) continue;
      const Detection moved = Moved(box, parts[part]);
      if (part > 0 && IsLarge(box, parts[part]) && !IsIn(found[0], moved)) continue;
      boxes.push_back({moved, part});
    }
  }
  std::stable_sort(boxes.begin(), boxes.end(),
                   [](const PartBox& a, const PartBox& b) { return a.box.score > b.box.score; });
  return boxes;
}

// Whether both are of one thing. They have the same class.
bool IsAgain(const PartBox& better, const PartBox& next, float most_overlap) {
  const Box a = BoxOf(better.box);
  const Box b = BoxOf(next.box);
  if (IntersectionOverUnion(a, b) > most_overlap) return true;
  return better.part != next.part && AreaOf(b) <= AreaOf(a) &&
         SharedArea(a, b) > kMostCovered * AreaOf(b);
}

}  // namespace

Detections MergeTiles(const TileGrid& grid, std::span<const Detections> found,
                      const DetectionOptions& options) {
  Detections merged;
  for (const Detections& part : found) merged.truncated |= part.truncated;
  const float most_overlap = std::min(options.iou, kMostOverlap);
  const auto wanted = static_cast<size_t>(std::max(options.max_detections, 0));
  std::unordered_map<int, std::vector<PartBox>> kept;  // by class
  for (const PartBox& next : Ordered(grid, found)) {
    std::vector<PartBox>& same = kept[static_cast<int>(next.box.class_id)];
    const bool again = std::any_of(same.begin(), same.end(), [&](const PartBox& better) {
      return IsAgain(better, next, most_overlap);
    });
    if (again) continue;
    if (merged.boxes.size() == wanted) {
      merged.truncated = true;
      break;
    }
    same.push_back(next);
    merged.boxes.push_back(next.box);
  }
  return merged;
}

}  // namespace lattice
