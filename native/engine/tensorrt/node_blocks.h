// Idle blocks of memory by NUMA node and size.
#ifndef LATTICE_ENGINE_TENSORRT_NODE_BLOCKS_H_
#define LATTICE_ENGINE_TENSORRT_NODE_BLOCKS_H_

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace lattice {

// Keeps up to `most_bytes` for each node, of the sizes that were in use last. Not thread-safe.
// `Block` owns its memory and is moved.
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

  // Hands back what has no room: blocks of other sizes, the largest first, or the block itself.
  std::vector<Block> Keep(int node, size_t size, Block block) {
    Shelf& shelf = shelves_[node];
    std::vector<Block> surplus;
    if (size > most_bytes_) {
      surplus.push_back(std::move(block));
      return surplus;
    }
    while (shelf.bytes > most_bytes_ - size) {
      const auto other = LargestOther(shelf, size);
      if (other == shelf.blocks.rend()) {
        surplus.push_back(std::move(block));
        return surplus;
      }
      surplus.push_back(std::move(other->second.back()));
      other->second.pop_back();
      shelf.bytes -= other->first;
    }
    shelf.blocks[size].push_back(std::move(block));
    shelf.bytes += size;
    return surplus;
  }

  // From now on nothing is handed back.
  void KeepAll() { most_bytes_ = std::numeric_limits<size_t>::max(); }

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

  static auto LargestOther(Shelf& shelf, size_t size) {
    return std::find_if(shelf.blocks.rbegin(), shelf.blocks.rend(), [size](const auto& entry) {
      return entry.first != size && !entry.second.empty();
    });
  }

  size_t most_bytes_;
  std::map<int, Shelf> shelves_;
};

}  // namespace lattice

#endif  // LATTICE_ENGINE_TENSORRT_NODE_BLOCKS_H_
