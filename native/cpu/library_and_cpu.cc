#include "native/cpu/library_and_cpu.h"

#include <fstream>
#include <openvino/core/version.hpp>

namespace lattice {

std::string LibraryAndCpu() {
  std::string all = ov::get_openvino_version().buildNumber;
  std::ifstream cpus("/proc/cpuinfo");
  // The lines of the first processor, which an empty line ends.
  for (std::string line; std::getline(cpus, line) && !line.empty();) {
    const bool is_named = line.starts_with("model name") || line.starts_with("flags") ||
                          line.starts_with("Features") || line.starts_with("CPU part");
    if (is_named) all += ' ' + line;
  }
  return all;
}

}  // namespace lattice
