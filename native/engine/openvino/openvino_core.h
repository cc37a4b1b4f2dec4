// The process's one OpenVINO core, and how it compiles.
#ifndef LATTICE_ENGINE_OPENVINO_OPENVINO_CORE_H_
#define LATTICE_ENGINE_OPENVINO_OPENVINO_CORE_H_

#include <openvino/openvino.hpp>

namespace lattice {

// Never destroyed: exit handlers of other libraries may still run inference threads when statics
// die. Thread-safe. Its calls throw what the library throws.
ov::Core& SharedCore();

// How networks are compiled for the CPU. Without streams the library computes on the thread that
// asks.
ov::AnyMap CpuProperties(int threads, int streams, bool bf16);

}  // namespace lattice

#endif  // LATTICE_ENGINE_OPENVINO_OPENVINO_CORE_H_
