#include "native/gpu/onnx/node_order.h"

#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace lattice {

void SortNodes(OnnxGraph& graph) {
  std::unordered_map<std::string_view, size_t> makers;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::string& output : graph.nodes[i].outputs) makers.emplace(output, i);
  }
  // Depth first, with a stack of its own: graphs are as deep as they have nodes.
  std::vector<size_t> order;
  std::vector<bool> entered(graph.nodes.size());
  std::vector<std::pair<size_t, size_t>> path;  // node, inputs of it that are done
  for (size_t root = 0; root < graph.nodes.size(); ++root) {
    if (entered[root]) continue;
    entered[root] = true;
    path.emplace_back(root, 0);
    while (!path.empty()) {
      const size_t node = path.back().first;
      const std::vector<std::string>& inputs = graph.nodes[node].inputs;
      if (path.back().second == inputs.size()) {
        order.push_back(node);
        path.pop_back();
        continue;
      }
      const auto maker = makers.find(inputs[path.back().second++]);
      if (maker == makers.end() || entered[maker->second]) continue;
      entered[maker->second] = true;
      path.emplace_back(maker->second, 0);
    }
  }
  std::vector<OnnxNode> sorted;
  for (const size_t node : order) sorted.push_back(std::move(graph.nodes[node]));
  graph.nodes = std::move(sorted);
}

}  // namespace lattice
