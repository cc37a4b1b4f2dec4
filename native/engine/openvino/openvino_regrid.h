// Networks at other input sizes than they were exported with.
#ifndef LATTICE_ENGINE_OPENVINO_OPENVINO_REGRID_H_
#define LATTICE_ENGINE_OPENVINO_OPENVINO_REGRID_H_

#include <memory>
#include <openvino/openvino.hpp>

#include "native/onnx/input_size.h"

namespace lattice {

// An export with fixed sides carries the places of its anchors as constants: the centres of the
// cells of three grids, 8, 16 and 32 pixels wide where `stride` is 32, and the width of each one's
// cell. Replaces them, and the shapes that count them, with the sides. A network without such
// constants reckons them itself. False where a constant that counts anchors is none of these: the
// network may not be used then. Throws what the library throws, as for shapes that do not fit.
bool Regrid(ov::Model& model, InputSize from, InputSize to, int stride);

}  // namespace lattice

#endif  // LATTICE_ENGINE_OPENVINO_OPENVINO_REGRID_H_
