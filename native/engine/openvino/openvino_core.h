// The OpenVINO core of the process, and its compile properties.
#ifndef LATTICE_ENGINE_OPENVINO_OPENVINO_CORE_H_
#define LATTICE_ENGINE_OPENVINO_OPENVINO_CORE_H_

#include <openvino/openvino.hpp>

namespace lattice {

// Never destroyed: exit handlers of other libraries may still run inference threads when statics
// die. Thread-safe. Its calls throw what the library throws.
ov::Core& SharedCore();

// The properties for compiling a network for the CPU. With 0 streams the library computes on the
// calling thread.
ov::AnyMap CpuProperties(int threads, int streams, bool bf16);

}  // namespace lattice

#endif  // LATTICE_ENGINE_OPENVINO_OPENVINO_CORE_H_
