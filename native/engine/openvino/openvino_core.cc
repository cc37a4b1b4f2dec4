#include "native/engine/openvino/openvino_core.h"

namespace lattice {

ov::Core& SharedCore() {
  static auto* core = new ov::Core();
  return *core;
}

}  // namespace lattice
