// Finds the anchors worth a look: the only step that touches every score of the head.
#ifndef LATTICE_BOXES_SCORE_SCAN_H_
#define LATTICE_BOXES_SCORE_SCAN_H_

#include <cstdint>
#include <vector>

namespace lattice {

struct Candidate {
  float score;
  int32_t anchor;
  int32_t class_id;
};

// `scores` is [classes, anchors], row-major. One candidate for each anchor whose best class scores
// above `confidence`, by anchor index; of equal scores the lowest class wins. NaN never wins.
// Thread-safe.
std::vector<Candidate> ScanScores(const float* scores, int classes, int anchors, float confidence);

}  // namespace lattice

#endif  // LATTICE_BOXES_SCORE_SCAN_H_
