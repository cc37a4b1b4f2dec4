// Networks of other layouts, rewritten into those of head.h.
#ifndef LATTICE_MODEL_READABLE_LAYOUT_H_
#define LATTICE_MODEL_READABLE_LAYOUT_H_

#include <string>

#include "native/model/model_info.h"

namespace lattice {

// The same model with the pixels and boxes that the core has, where it is one of yolox.h, nanodet.h
// or detr.h, known by the structure of its graph alone; every other file as it is. `info` is of
// DescribeMetadata. Sets info->stretched and info->only_f32. Thread-safe.
std::string WithReadableLayout(std::string file, ModelInfo* info);

}  // namespace lattice

#endif  // LATTICE_MODEL_READABLE_LAYOUT_H_
