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

// When an image has more candidates, only the best of them reach suppression. The reference
// predictor has the same limit.
inline constexpr int kMaxCandidates = 30'000;

struct DetectionOptions {
  float confidence = 0.25f;  // keep score > confidence
  float iou = 0.7f;          // suppress IoU > iou within a class
  int max_detections = 300;
  std::vector<int> class_ids;  // empty = all; applied before suppression
  // True: the result has a row for every row of a kFinal output, or for every anchor of a kRows
  // output with its best class, in the order of the output, in input pixels, whatever the numbers
  // are. The check of a model's layout reads these rows. No effect for kScales.
  bool every_row = false;
};

// One row of the result: exactly six floats, so that a vector of rows is the Float32Array that JS
// gets.
struct Detection {
  // In source pixels and clamped to the image, except with DetectionOptions::every_row.
  float x1, y1, x2, y2;
  float score;
  float class_id;
};
static_assert(sizeof(Detection) == 6 * sizeof(float));

struct Detections {
  // By score, highest first. Boxes of the same score are in the order of their anchors, so that the
  // order is always the same.
  std::vector<Detection> boxes;
  bool truncated = false;  // max_detections or kMaxCandidates cut the list
};

// The outputs of one image, row-major. HeadLayout describes each layout.
struct HeadOutput {
  std::array<ScaleView<float>, kHeadScales> scales = {};  // used when the layout is kScales
  const float* rows = nullptr;                            // used for kRows and kFinal
  int count = 0;  // the number of anchors for kRows, of rows for kFinal
};

// Returns the boxes whose score passes, with the letterbox undone. NaN scores, boxes that are not
// finite and boxes without an area in the picture never pass (see source_box.h). A box has its best
// class only, and boxes of one class suppress each other. For kFinal and for a one-to-one head
// every class that passes gives a box, and no box suppresses another. For kScales without a
// one-to-one head the boxes equal those that the uncut network would give through kRows; anchors
// are numbered through the scales in their order. Thread-safe.
Detections FindBoxes(const Head& head, const HeadOutput& output,
                     const LetterboxTransform& transform, const DetectionOptions& options);

}  // namespace lattice

#endif  // LATTICE_BOXES_DETECTIONS_H_
