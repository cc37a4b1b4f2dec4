// The OpenVINO core of the process, and its compile properties.
#ifndef LATTICE_CPU_OPENVINO_CORE_H_
#define LATTICE_CPU_OPENVINO_CORE_H_

#include <openvino/openvino.hpp>
#include <optional>
#include <string>

namespace lattice {

// Never destroyed: exit handlers of other libraries may still run inference threads when statics
// die. Thread-safe. Its calls throw what the library throws.
ov::Core& SharedCore();

// How to compute networks.
struct CpuPrecision {
  bool bf16 = false;
  // Integer convolutions for networks with quantised ones; without, these are computed in floats.
  bool eight_bit = true;
};

// The properties for compiling a network for the CPU. With 0 streams the library computes on the
// calling thread.
ov::AnyMap CpuProperties(int threads, int streams, CpuPrecision precision);

// The tensor of this name, as the ONNX file calls it; nothing if there is none.
std::optional<ov::Output<ov::Node>> FindTensor(const ov::Model& network, const std::string& name);

}  // namespace lattice

#endif  // LATTICE_CPU_OPENVINO_CORE_H_
