// GPU memory that images are decoded into, used again and bounded.
#ifndef LATTICE_GPU_JPEG_PLANE_POOL_H_
#define LATTICE_GPU_JPEG_PLANE_POOL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace lattice {

// The offsets of Y, Cb and Cr of a 4:2:0 image in one block. Rows are padded to 256 bytes and
// planes to whole blocks of 16 x 16 pixels, so that a decoder may write its last blocks in full.
struct PlaneLayout {
  std::array<size_t, 3> offsets = {};
  std::array<int, 3> pitches = {};
  size_t bytes = 0;
};

PlaneLayout LayOutPlanes(int width, int height);

// A block that comes back is kept for images of nearly the same size. At the limit a smaller image
// gets a larger kept block, and a larger one has smaller ones freed. Thread-safe; lives until its
// last block is freed.
class PlanePool : public std::enable_shared_from_this<PlanePool> {
 public:
  using Block = std::shared_ptr<uint8_t>;
  // Memory that is freed with its last owner; null where there is none. Called by Take only.
  using Allocate = std::function<Block(size_t bytes)>;

  // `most_bytes` counts blocks in use and kept ones together.
  static std::shared_ptr<PlanePool> Create(size_t most_bytes, Allocate allocate);
  PlanePool(const PlanePool&) = delete;
  PlanePool& operator=(const PlanePool&) = delete;

  // The block returns to the pool with its last copy. Null if the limit or the GPU's memory is
  // reached.
  Block Take(size_t bytes);

  size_t held_bytes() const;

 private:
  PlanePool(size_t most_bytes, Allocate allocate)
      : most_bytes_(most_bytes), allocate_(std::move(allocate)) {}
  // A kept block of `*size` or, at the limit, of more, which is then in `*size`; else null, with
  // the size counted as held if the limit allows it.
  Block TakeKept(size_t* size, bool* has_room, std::vector<Block>* freed);
  void Return(Block block, size_t size);

  const size_t most_bytes_;
  const Allocate allocate_;
  mutable std::mutex mutex_;
  size_t held_bytes_ = 0;
  std::multimap<size_t, Block> kept_;  // by size
};

}  // namespace lattice

#endif  // LATTICE_GPU_JPEG_PLANE_POOL_H_
