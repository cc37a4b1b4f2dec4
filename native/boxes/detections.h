// Outputs of a network -> boxes in source pixels.
#ifndef LATTICE_BOXES_DETECTIONS_H_
#define LATTICE_BOXES_DETECTIONS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "native/boxes/scale_view.h"
#include "native/letterbox/letterbox.h"
#include "native/model/head.h"

namespace lattice {

// As the reference: more candidates than this are cut by score before suppression.
inline constexpr int kMaxCandidates = 30'000;

struct DetectionOptions {
  float confidence = 0.25f;  // keep score > confidence
  float iou = 0.7f;          // suppress IoU > iou within a class
  int max_detections = 300;
  std::vector<int> class_ids;  // empty = all; applied before suppression
  // Instead of boxes: every row of a whole network, to tell whether its layout is what it was
  // taken for. In input pixels, with the best class of each anchor, in the order of the output,
  // whatever the numbers are. Without effect where the network is cut at its head.
  bool raw = false;
};

// One row of the result: exactly six floats, so that a vector of rows is the Float32Array that JS
// gets.
struct Detection {
  float x1, y1, x2, y2;  // source pixels, clamped to the image; see DetectionOptions::raw
  float score;
  float class_id;
};
static_assert(sizeof(Detection) == 6 * sizeof(float));

struct Detections {
  std::vector<Detection>
      boxes;               // by score, highest first; ties by anchor index, so the order is stable
  bool truncated = false;  // max_detections or the 30,000-candidate cap cut the list
};

// The outputs of one image, row-major, laid out as HeadLayout says.
struct HeadOutput {
  std::array<ScaleView<float>, kHeadScales> scales = {};  // kScales
  const float* rows = nullptr;                            // kRows, kFinal
  int count = 0;                                          // of anchors, or of rows
};

// Boxes whose score passes, with the letterbox undone. NaN scores, boxes that are not finite and
// boxes without an area in the picture never pass (see source_box.h). One class a box (argmax) and
// class-wise suppression, except for kFinal and for a one-to-one head: there every class that
// passes is a box. kScales gives the boxes that kRows would give for what the network's own end
// makes of these numbers; anchors are counted over the scales in order. Thread-safe.
Detections FindBoxes(const Head& head, const HeadOutput& output,
                     const LetterboxTransform& transform, const DetectionOptions& options);

}  // namespace lattice

#endif  // LATTICE_BOXES_DETECTIONS_H_
