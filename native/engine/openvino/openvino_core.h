// The process's one OpenVINO core.
#ifndef LATTICE_ENGINE_OPENVINO_OPENVINO_CORE_H_
#define LATTICE_ENGINE_OPENVINO_OPENVINO_CORE_H_

#include <openvino/openvino.hpp>

namespace lattice {

// Never destroyed: exit handlers of other libraries may still run inference threads when statics
// die. Thread-safe. Its calls throw what the library throws.
ov::Core& SharedCore();

}  // namespace lattice

#endif  // LATTICE_ENGINE_OPENVINO_OPENVINO_CORE_H_
