// Raw v8 head output -> boxes in source pixels.
#ifndef LATTICE_POSTPROCESS_DETECTIONS_H_
#define LATTICE_POSTPROCESS_DETECTIONS_H_

#include <cstdint>
#include <vector>

#include "native/preprocess/letterbox.h"

namespace lattice {

// As the reference: more candidates than this are cut by score before suppression.
inline constexpr int kMaxCandidates = 30'000;

struct DetectionOptions {
  float confidence = 0.25f;  // keep score > confidence
  float iou = 0.7f;          // suppress IoU > iou within a class
  int max_detections = 300;
  std::vector<int> class_ids;  // empty = all; applied before suppression
};

// One row of the result: exactly six floats, so that a vector of rows is the Float32Array that JS
// gets.
struct Detection {
  float x1, y1, x2, y2;  // source pixels, clamped to the image
  float score;
  float class_id;
};
static_assert(sizeof(Detection) == 6 * sizeof(float));

struct Detections {
  std::vector<Detection>
      boxes;               // by score, highest first; ties by anchor index, so the order is stable
  bool truncated = false;  // max_detections or the 30,000-candidate cap cut the list
};

// `output` is [4 + classes, anchors] of one image, row-major: cx, cy, w, h in input pixels, then
// class scores. One class a box (argmax), class-wise suppression, then the letterbox undone. NaN
// scores never pass. Thread-safe.
Detections DecodeDetections(const float* output, int classes, int anchors,
                            const LetterboxTransform& transform, const DetectionOptions& options);

}  // namespace lattice

#endif  // LATTICE_POSTPROCESS_DETECTIONS_H_
