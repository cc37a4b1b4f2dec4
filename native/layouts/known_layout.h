// Networks of foreign layouts, turned into those of native/model/head.h.
#ifndef LATTICE_LAYOUTS_KNOWN_LAYOUT_H_
#define LATTICE_LAYOUTS_KNOWN_LAYOUT_H_

#include <string>

#include "native/base/status.h"
#include "native/model/model_info.h"

namespace lattice {

// The same model with the pixels and boxes that engines have, where it is one of yolox.h, nanodet.h
// or detr.h, known by the structure of its graph alone; every other file as it is, so that what was
// turned once stays. `info` is of DescribeMetadata. Sets info->stretched and info->only_f32, which
// the metadata of the turned file say too. Thread-safe.
std::string InKnownLayout(std::string file, ModelInfo* info);

// The same of a file. Codes of ReadDescribedModel. Thread-safe.
Result<std::string> ReadInKnownLayout(const std::string& path);

}  // namespace lattice

#endif  // LATTICE_LAYOUTS_KNOWN_LAYOUT_H_
