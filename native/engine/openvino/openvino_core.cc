#include "native/engine/openvino/openvino_core.h"

namespace lattice {

ov::Core& SharedCore() {
  static auto* core = new ov::Core();
  return *core;
}

ov::AnyMap CpuProperties(int threads, int streams, bool bf16) {
  return {
      ov::hint::inference_precision(bf16 ? ov::element::bf16 : ov::element::f32),
      ov::num_streams(ov::streams::Num(streams)),
      ov::inference_num_threads(threads),
      // The process shares its cores with decoding and with Node; pinned threads would wait for
      // them.
      ov::hint::enable_cpu_pinning(false),
  };
}

}  // namespace lattice
