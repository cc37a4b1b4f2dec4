// On which cores decode threads run where memory can be near or far.
#ifndef LATTICE_SCHEDULER_DECODE_CPUS_H_
#define LATTICE_SCHEDULER_DECODE_CPUS_H_

#include <vector>

#include "native/base/numa_nodes.h"

namespace lattice {

// The CPUs of each of `threads` decode threads: those of one node, as far as `allowed`. Nodes of
// `gpu_nodes` (-1 for one that is not known) are filled first and evenly, a thread a CPU, then the
// others: a far core decodes sooner than no core. Empty, so that nothing is bound, where only one
// node may be used or no GPU's node is known.
std::vector<std::vector<int>> DecodeCpus(int threads, const std::vector<NumaNode>& nodes,
                                         const std::vector<int>& allowed,
                                         const std::vector<int>& gpu_nodes);

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_DECODE_CPUS_H_
