// Which memory is near which cores and which PCI devices.
#ifndef LATTICE_BASE_NUMA_NODES_H_
#define LATTICE_BASE_NUMA_NODES_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lattice {

struct NumaNode {
  int id = 0;
  std::vector<int> cpus;  // ascending
};

// As the kernel shows it in a folder that is /sys outside tests. Read when asked; nothing is kept.
class NumaNodes {
 public:
  explicit NumaNodes(std::string sys = "/sys") : sys_(std::move(sys)) {}

  // The nodes that have CPUs, by number; empty where the kernel does not say.
  std::vector<NumaNode> List() const;
  // Whether memory can be near or far: List() has more than one.
  bool Several() const { return List().size() > 1; }
  // Node of a device such as "0000:17:00.0"; -1 where the kernel does not say.
  int OfPciDevice(const std::string& bus_id) const;

 private:
  std::string sys_;
};

// Node of the core that the calling thread runs on at this moment; 0 where that is not known.
int CurrentNumaNode();

// "0-3,8" -> 0 1 2 3 8, ascending. Empty for a text of another shape.
std::vector<int> ParseCpuList(std::string_view text);

}  // namespace lattice

#endif  // LATTICE_BASE_NUMA_NODES_H_
