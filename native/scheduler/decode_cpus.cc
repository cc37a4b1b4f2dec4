#include "native/scheduler/decode_cpus.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace lattice {
namespace {

struct OfNode {
  std::vector<int> cpus;
  bool has_gpu = false;
  size_t threads = 0;

  bool full() const { return threads >= cpus.size(); }
};

// Whether the next thread is better off in `one`: with room, beside a GPU, less crowded.
bool Better(const OfNode& one, const OfNode& other) {
  if (one.full() != other.full()) return other.full();
  if (!one.full() && one.has_gpu != other.has_gpu) return one.has_gpu;
  return one.threads * other.cpus.size() < other.threads * one.cpus.size();
}

}  // namespace

std::vector<std::vector<int>> DecodeCpus(int threads, const std::vector<NumaNode>& nodes,
                                         const std::vector<int>& allowed,
                                         const std::vector<int>& gpu_nodes) {
  std::vector<OfNode> usable;
  for (const NumaNode& node : nodes) {
    OfNode one;
    std::set_intersection(node.cpus.begin(), node.cpus.end(), allowed.begin(), allowed.end(),
                          std::back_inserter(one.cpus));
    one.has_gpu = std::find(gpu_nodes.begin(), gpu_nodes.end(), node.id) != gpu_nodes.end();
    if (!one.cpus.empty()) usable.push_back(std::move(one));
  }
  const bool knows_gpu =
      std::any_of(usable.begin(), usable.end(), [](const OfNode& one) { return one.has_gpu; });
  std::vector<std::vector<int>> of_threads;
  if (usable.size() < 2 || !knows_gpu) return of_threads;
  for (int i = 0; i < threads; ++i) {
    OfNode& best = *std::min_element(usable.begin(), usable.end(), Better);
    ++best.threads;
    of_threads.push_back(best.cpus);
  }
  return of_threads;
}

}  // namespace lattice
