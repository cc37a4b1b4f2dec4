// Changes the input size of an exported network.
#ifndef LATTICE_ENGINE_OPENVINO_OPENVINO_REGRID_H_
#define LATTICE_ENGINE_OPENVINO_OPENVINO_REGRID_H_

#include <memory>
#include <openvino/openvino.hpp>

#include "native/onnx/input_size.h"

namespace lattice {

// An export with fixed sides contains the positions of its anchors as constants: the centres of the
// cells of three grids (cells of 8, 16 and 32 pixels if `stride` is 32) and the cell width of each
// anchor. Replaces them, the shapes that contain their number, and the sides. A network without
// such constants computes them itself. Returns false if another constant has one value per anchor:
// then the network must not be used. Throws what the library throws, also for shapes that do not
// fit.
bool Regrid(ov::Model& model, InputSize from, InputSize to, int stride);

}  // namespace lattice

#endif  // LATTICE_ENGINE_OPENVINO_OPENVINO_REGRID_H_
