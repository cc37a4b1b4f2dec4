#include "native/postprocess/detections.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include "native/postprocess/box_math.h"
#include "native/postprocess/score_scan.h"

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

bool ComesFirst(const Candidate& a, const Candidate& b) {
  return a.score != b.score ? a.score > b.score : a.anchor < b.anchor;
}

bool IsWanted(int32_t class_id, const std::vector<int>& class_ids) {
  return class_ids.empty() ||
         std::find(class_ids.begin(), class_ids.end(), class_id) != class_ids.end();
}

// Best first. Sets `cut` when the cap dropped some.
std::vector<Candidate> OrderedCandidates(const float* output, int classes, int anchors,
                                         const DetectionOptions& options, bool* cut) {
  const float* scores = output + ptrdiff_t{4} * anchors;
  std::vector<Candidate> found = ScanScores(scores, classes, anchors, options.confidence);
  const BoxRows boxes{output, anchors};
  std::erase_if(found, [&](const Candidate& candidate) {
    return !IsWanted(candidate.class_id, options.class_ids) || !IsFinite(candidate.score) ||
           !IsSound(boxes.At(candidate.anchor));
  });
  *cut = found.size() > size_t{kMaxCandidates};
  if (*cut) {
    const auto end = found.begin() + ptrdiff_t{kMaxCandidates};
    std::nth_element(found.begin(), end, found.end(), ComesFirst);
    found.erase(end, found.end());
  }
  std::sort(found.begin(), found.end(), ComesFirst);
  return found;
}

Detection Located(const Box& box, const Candidate& candidate, const LetterboxTransform& t) {
  const auto left = static_cast<float>(t.pad_left);
  const auto top = static_cast<float>(t.pad_top);
  const auto width = static_cast<float>(t.source_width);
  const auto height = static_cast<float>(t.source_height);
  return {ToSource(box.x1, left, t.scale, width),
          ToSource(box.y1, top, t.scale, height),
          ToSource(box.x2, left, t.scale, width),
          ToSource(box.y2, top, t.scale, height),
          candidate.score,
          static_cast<float>(candidate.class_id)};
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

}  // namespace

Detections DecodeDetections(const float* output, int classes, int anchors,
                            const LetterboxTransform& transform, const DetectionOptions& options) {
  Detections result;
  const std::vector<Candidate> candidates =
      OrderedCandidates(output, classes, anchors, options, &result.truncated);
  const auto wanted = static_cast<size_t>(std::max(options.max_detections, 0));
  const BoxRows boxes{output, anchors};
  KeptBoxes kept(options.iou);
  for (const Candidate& candidate : candidates) {
    const Box box = boxes.At(candidate.anchor);
    if (!kept.Keep(candidate.class_id, box)) continue;
    // One survivor too many is enough to know that the list is cut: the rest need no comparison.
    if (result.boxes.size() == wanted) {
      result.truncated = true;
      break;
    }
    result.boxes.push_back(Located(box, candidate, transform));
  }
  return result;
}

}  // namespace lattice
