#include "native/cpu/openvino_core.h"

namespace lattice {

ov::Core& SharedCore() {
  static auto* core = new ov::Core();
  return *core;
}

ov::AnyMap CpuProperties(int threads, int streams, CpuPrecision precision) {
  ov::AnyMap properties = {
      ov::hint::inference_precision(precision.bf16 ? ov::element::bf16 : ov::element::f32),
      ov::num_streams(ov::streams::Num(streams)),
      ov::inference_num_threads(threads),
      // The number of threads is the caller's, also where it counts the hardware threads of a core.
      ov::hint::enable_hyper_threading(true),
      // The process shares its cores with decoding and with Node; pinned threads would wait for
      // them.
      ov::hint::enable_cpu_pinning(false),
  };
  // The library has no public name for it.
  if (!precision.eight_bit) properties["LP_TRANSFORMS_MODE"] = false;
  return properties;
}

std::optional<ov::Output<ov::Node>> FindTensor(const ov::Model& network, const std::string& name) {
  for (const auto& node : network.get_ops()) {
    for (const auto& output : node->outputs()) {
      if (output.get_names().contains(name)) return output;
    }
  }
  return std::nullopt;
}

}  // namespace lattice
