// Whether the core may compute a network's boxes itself, instead of the network's own end.
#ifndef LATTICE_CPU_HEAD_CHECK_H_
#define LATTICE_CPU_HEAD_CHECK_H_

#include <memory>
#include <optional>
#include <string>

#include "native/model/detection_head.h"
#include "native/model/head.h"
#include "native/model/model_description.h"

namespace ov {
class Model;
}  // namespace ov

namespace lattice {

// Runs what lies behind `head`, to the network's output, once on random numbers in float32, and
// compares every number that comes out with what the core makes of them. Returns how the core is to
// compute the boxes, or nothing where they are not the same: then the network must run whole.
// `network` has static shapes, and is of no use afterwards. Thread-safe, does not throw.
std::optional<Head> CheckHead(const std::shared_ptr<ov::Model>& network, const DetectionHead& head,
                              int classes);

// The same for the bytes of a file, at the closed shape of its input.
std::optional<Head> CheckHead(const std::string& onnx, const DetectionHead& head,
                              const Shape& input, int classes);

}  // namespace lattice

#endif  // LATTICE_CPU_HEAD_CHECK_H_
