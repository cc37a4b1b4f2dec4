#include "native/boxes/detections.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <unordered_map>

#include "native/boxes/box_math.h"
#include "native/boxes/score_scan.h"
#include "native/boxes/source_box.h"

namespace lattice {
namespace {

// The head's box rows: cx, cy, w, h, each `anchors` long.
struct BoxRows {
  const float* rows;
  ptrdiff_t anchors;

  Box At(int32_t anchor) const {
    const float* first = rows + anchor;
    return CornersOf(first[0], first[anchors], first[2 * anchors], first[3 * anchors]);
  }
};

// A candidate and its box in input pixels.
struct Found {
  Candidate candidate;
  Box box;
};

bool ComesFirst(const Found& a, const Found& b) {
  const Candidate& one = a.candidate;
  const Candidate& other = b.candidate;
  if (one.score != other.score) return one.score > other.score;
  return one.anchor != other.anchor ? one.anchor < other.anchor : one.class_id < other.class_id;
}

bool IsWanted(int32_t class_id, const std::vector<int>& class_ids) {
  return class_ids.empty() ||
         std::find(class_ids.begin(), class_ids.end(), class_id) != class_ids.end();
}

// Adds the candidate unless it cannot be a box of the picture.
void Add(const Candidate& candidate, const Box& box, const LetterboxTransform& transform,
         std::vector<Found>* found) {
  if (IsFinite(candidate.score) && IsInSource(box, transform)) found->push_back({candidate, box});
}

std::vector<Found> FindInRows(const float* output, int classes, int anchors,
                              const LetterboxTransform& transform,
                              const DetectionOptions& options) {
  const float* scores = output + ptrdiff_t{4} * anchors;
  const BoxRows boxes{output, anchors};
  std::vector<Found> found;
  for (const Candidate& candidate : ScanScores(scores, classes, anchors, options.confidence)) {
    if (!IsWanted(candidate.class_id, options.class_ids)) continue;
    Add(candidate, boxes.At(candidate.anchor), transform, &found);
  }
  return found;
}

std::vector<Found> FindInScales(const HeadOutput& output, const Head& head,
                                const LetterboxTransform& transform,
                                const DetectionOptions& options) {
  const float floor = LogitFloor(options.confidence);
  std::vector<Found> found;
  int32_t first = 0;  // anchor of the scale
  for (size_t i = 0; i < kHeadScales; ++i) {
    const ScaleView<float>& scale = output.scales[i];
    for (const Candidate& best : ScanScores(scale.classes, head.classes, scale.cells, floor)) {
      if (!(Sigmoid(best.score) > options.confidence)) continue;
      const Box box = scale.BoxAt(head.bins, head.strides[i], best.anchor);
      const auto look = [&](int32_t class_id, float logit) {
        const float score = Sigmoid(logit);
        if (!(score > options.confidence) || !IsWanted(class_id, options.class_ids)) return;
        Add({score, first + best.anchor, class_id}, box, transform, &found);
      };
      if (head.one_to_one) {
        for (int c = 0; c < head.classes; ++c) look(c, scale.Logit(c, best.anchor));
      } else {
        look(scale.LowestEqualClass(best.class_id, best.anchor), best.score);
      }
    }
    first += scale.cells;
  }
  return found;
}

std::vector<Found> FindInFinal(const float* output, int classes, int rows,
                               const LetterboxTransform& transform,
                               const DetectionOptions& options) {
  std::vector<Found> found;
  for (int row = 0; row < rows; ++row) {
    const float* values = output + ptrdiff_t{6} * row;
    const float class_id = values[5];
    if (!(values[4] > options.confidence) || !(class_id >= 0) ||
        !(class_id < static_cast<float>(classes))) {
      continue;
    }
    const Candidate candidate{values[4], row, static_cast<int32_t>(class_id)};
    if (!IsWanted(candidate.class_id, options.class_ids)) continue;
    Add(candidate, {values[0], values[1], values[2], values[3]}, transform, &found);
  }
  return found;
}

std::vector<Detection> EveryFinalRow(const float* output, int rows) {
  std::vector<Detection> found;
  found.reserve(static_cast<size_t>(rows));
  for (int row = 0; row < rows; ++row) {
    const float* r = output + ptrdiff_t{6} * row;
    found.push_back({r[0], r[1], r[2], r[3], r[4], r[5]});
  }
  return found;
}

std::vector<Detection> EveryAnchor(const float* output, int classes, int anchors) {
  const BoxRows boxes{output, anchors};
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  std::vector<Detection> found;
  for (const Candidate& best :
       ScanScores(output + ptrdiff_t{4} * anchors, classes, anchors, kLowest)) {
    const Box box = boxes.At(best.anchor);
    found.push_back(
        {box.x1, box.y1, box.x2, box.y2, best.score, static_cast<float>(best.class_id)});
  }
  return found;
}

// Best first. Sets `cut` when the cap dropped some.
void Order(std::vector<Found>* found, bool* cut) {
  *cut = found->size() > size_t{kMaxCandidates};
  if (*cut) {
    const auto end = found->begin() + ptrdiff_t{kMaxCandidates};
    std::nth_element(found->begin(), end, found->end(), ComesFirst);
    found->erase(end, found->end());
  }
  std::sort(found->begin(), found->end(), ComesFirst);
}

Detection Located(const Box& box, const Candidate& candidate, const LetterboxTransform& transform) {
  const Box inside = InSource(box, transform);
  return {inside.x1, inside.y1,       inside.x2,
          inside.y2, candidate.score, static_cast<float>(candidate.class_id)};
}

// Boxes kept so far, by class: a candidate is compared with its own class only.
class KeptBoxes {
 public:
  explicit KeptBoxes(float iou) : iou_(iou) {}

  // Keeps the box unless a kept one of its class covers it.
  bool Keep(int32_t class_id, const Box& box) {
    std::vector<Box>& kept = by_class_[class_id];
    const bool covered = std::any_of(kept.begin(), kept.end(), [&](const Box& other) {
      return IntersectionOverUnion(other, box) > iou_;
    });
    if (!covered) kept.push_back(box);
    return !covered;
  }

 private:
  float iou_;
  std::unordered_map<int32_t, std::vector<Box>> by_class_;
};

// `suppresses`: boxes of a class that overlap another too much are dropped.
Detections Choose(std::vector<Found> found, bool suppresses, const LetterboxTransform& transform,
                  const DetectionOptions& options) {
  Detections result;
  Order(&found, &result.truncated);
  const auto wanted = static_cast<size_t>(std::max(options.max_detections, 0));
  KeptBoxes kept(options.iou);
  for (const Found& next : found) {
    if (suppresses && !kept.Keep(next.candidate.class_id, next.box)) continue;
    // One survivor too many is enough to know that the list is cut: the rest need no comparison.
    if (result.boxes.size() == wanted) {
      result.truncated = true;
      break;
    }
    result.boxes.push_back(Located(next.box, next.candidate, transform));
  }
  return result;
}

}  // namespace

Detections FindBoxes(const Head& head, const HeadOutput& output,
                     const LetterboxTransform& transform, const DetectionOptions& options) {
  switch (head.layout) {
    case HeadLayout::kScales:
      return Choose(FindInScales(output, head, transform, options), !head.one_to_one, transform,
                    options);
    case HeadLayout::kFinal:
      if (options.every_row) return {EveryFinalRow(output.rows, output.count)};
      return Choose(FindInFinal(output.rows, head.classes, output.count, transform, options), false,
                    transform, options);
    case HeadLayout::kRows:
      break;
  }
  if (options.every_row) return {EveryAnchor(output.rows, head.classes, output.count)};
  return Choose(FindInRows(output.rows, head.classes, output.count, transform, options), true,
                transform, options);
}

}  // namespace lattice
