// Idle blocks of memory by NUMA node and size.
#ifndef LATTICE_ENGINE_NODE_BLOCKS_H_
#define LATTICE_ENGINE_NODE_BLOCKS_H_

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace lattice {

// Keeps up to `most_bytes` for each node. Not thread-safe. `Block` owns its memory and is moved.
template <typename Block>
class NodeBlocks {
 public:
  explicit NodeBlocks(size_t most_bytes) : most_bytes_(most_bytes) {}

  // A block of exactly this size that was kept for the node.
  std::optional<Block> Take(int node, size_t size) {
    Shelf& shelf = shelves_[node];
    std::vector<Block>& blocks = shelf.blocks[size];
    if (blocks.empty()) return std::nullopt;
    Block block = std::move(blocks.back());
    blocks.pop_back();
    shelf.bytes -= size;
    return block;
  }

  // Hands the block back where the node has enough.
  std::optional<Block> Keep(int node, size_t size, Block block) {
    Shelf& shelf = shelves_[node];
    if (shelf.bytes + size > most_bytes_) return block;
    shelf.blocks[size].push_back(std::move(block));
    shelf.bytes += size;
    return std::nullopt;
  }

  // Of all nodes.
  size_t idle_bytes() const {
    size_t bytes = 0;
    for (const auto& [node, shelf] : shelves_) bytes += shelf.bytes;
    return bytes;
  }

 private:
  struct Shelf {
    std::map<size_t, std::vector<Block>> blocks;  // by size
    size_t bytes = 0;
  };

  const size_t most_bytes_;
  std::map<int, Shelf> shelves_;
};

}  // namespace lattice

#endif  // LATTICE_ENGINE_NODE_BLOCKS_H_
