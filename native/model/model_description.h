// Checks from metadata and tensor shapes whether a network is a detector that the core can run.
#ifndef LATTICE_MODEL_MODEL_DESCRIPTION_H_
#define LATTICE_MODEL_MODEL_DESCRIPTION_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "native/base/status.h"
#include "native/model/model_info.h"

namespace lattice {

// -1 is a dimension that the export leaves open.
using Shape = std::vector<int64_t>;

// "[?, 3, 640, 640]"; at most the first eight sides.
std::string ToText(const Shape& shape);

// Keys of metadata, and their value, that say ModelInfo::stretched and ModelInfo::only_f32.
inline constexpr const char* kStretchedKey = "lattice.stretched";
inline constexpr const char* kOnlyF32Key = "lattice.only_f32";
inline constexpr const char* kSet = "True";

// Task, names, stride, the two of the keys above, and the metadata itself. kInvalidModel names the
// task found (an absent one counts as detect: old exports have none) or what is wrong with the
// names.
Result<ModelInfo> DescribeMetadata(std::map<std::string, std::string> metadata);

// Sets input_width, input_height and fixed_batch, and returns the closed shape that the network is
// to run with: open sides take the metadata's `imgsz`, else 640; an open batch becomes 1.
// kInvalidModel for any number of inputs but one, other ranks than 4, other channel counts than 3,
// or sides that are no multiple of the stride.
Result<Shape> ResolveInput(const std::vector<Shape>& inputs, ModelInfo& info);

// Checks the output of a whole network and sets `head`, and `anchors` if the layout is kRows.
// `info` has its input. Fails with kInvalidModel unless there is one output [batch, 4 + classes,
// anchors], or [batch, rows, 6] of a network that chooses its boxes (box_choice.h); the message
// says what was found, which layout it looks like, and how to export the model so that it can be
// used. A run on a picture checks whether the numbers are what the layout says: the self-check of
// src/models.
Status CheckOutput(const std::vector<Shape>& outputs, int batch, bool chooses_boxes,
                   ModelInfo& info);

}  // namespace lattice

#endif  // LATTICE_MODEL_MODEL_DESCRIPTION_H_
