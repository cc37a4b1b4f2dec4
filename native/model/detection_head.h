// The head of a detector: its last convolutions, found by the structure of the graph.
#ifndef LATTICE_MODEL_DETECTION_HEAD_H_
#define LATTICE_MODEL_DETECTION_HEAD_H_

#include <optional>
#include <string>
#include <vector>

#include "native/model/onnx_graph.h"

namespace lattice {

// Names of two tensors of one grid: [batch, 4 * bins, rows, columns] and [batch, classes, rows,
// columns].
struct HeadScale {
  std::string boxes;
  std::string classes;

  bool operator==(const HeadScale&) const = default;
};

struct DetectionHead {
  std::vector<HeadScale> scales;  // three, in the order in which the file joins them: finest first
  // Numbers for each side of a box: 16 logits whose softmax weighs the distances 0 to 15 (DFL), or
  // 1 number, the distance itself.
  int bins = 0;
};

// Walks back from the graph's only output and stops at convolutions, or behind the quantisation
// that directly follows one. These must be six: three of `classes` channels and three of 64 or
// of 4. It looks at no names, and at no shapes but those of weights. Nothing for any other graph.
// It does not look at the nodes behind the tensors: callers must prove with CheckHead
// (head_check.h) that the core computes the same before they cut there.
std::optional<DetectionHead> FindDetectionHead(const OnnxModel& model, int classes);

// Makes the head's tensors the graph's outputs: boxes and classes of each scale in order. Removes
// all that does not lead to them. `head` is of FindDetectionHead for the same model.
void CutAtHead(OnnxModel* model, const DetectionHead& head);

}  // namespace lattice

#endif  // LATTICE_MODEL_DETECTION_HEAD_H_
