// Memory of one GPU that pictures are decoded into, used again and bounded.
#ifndef LATTICE_DECODE_ROUTE_NVJPEG_PLANE_POOL_H_
#define LATTICE_DECODE_ROUTE_NVJPEG_PLANE_POOL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace lattice {

// Where Y, Cb, Cr of a 4:2:0 picture lie in one block. Rows are padded to 256 bytes and planes to
// whole blocks of 16 x 16 pixels, so that a decoder may write its last blocks in full.
struct PlaneLayout {
  std::array<size_t, 3> offsets = {};
  std::array<int, 3> pitches = {};
  size_t bytes = 0;
};

PlaneLayout LayOutPlanes(int width, int height);

// Blocks that came back are kept for pictures of nearly the same size; those of other sizes go when
// a new block would pass the limit. Thread-safe; lives until its last block is gone.
class PlanePool : public std::enable_shared_from_this<PlanePool> {
 public:
  using Block = std::shared_ptr<uint8_t>;
  // Memory that is freed with its last owner; null where there is none. Called without the lock.
  using Allocate = std::function<Block(size_t bytes)>;

  // `most_bytes` counts blocks in use and kept ones together, `most_lent` those in use.
  static std::shared_ptr<PlanePool> Create(size_t most_bytes, Allocate allocate,
                                           size_t most_lent = std::numeric_limits<size_t>::max());
  PlanePool(const PlanePool&) = delete;
  PlanePool& operator=(const PlanePool&) = delete;

  // Comes back when the last copy is gone. Null where a limit or the GPU leaves no room, and
  // after Abandon.
  Block Take(size_t bytes);

  // For a GPU that was lost: nothing is given out, used again or freed from here on, since even
  // freeing may wait for it for ever.
  void Abandon();

  size_t most_bytes() const { return most_bytes_; }
  size_t held_bytes() const;

 private:
  PlanePool(size_t most_bytes, Allocate allocate, size_t most_lent)
      : most_bytes_(most_bytes), most_lent_(most_lent), allocate_(std::move(allocate)) {}
  Block Find(size_t size);
  Block Lend(Block block, size_t size);
  void Return(Block block, size_t size);
  Block TakeKept(size_t size);
  // Takes kept blocks out, the largest first, until `size` more fit or none is left.
  std::vector<Block> MakeRoom(size_t size);
  // Whether `size` more are within the limit; counts them where they are.
  bool Reserve(size_t size);

  const size_t most_bytes_;
  const size_t most_lent_;
  const Allocate allocate_;
  mutable std::mutex mutex_;
  bool abandoned_ = false;
  size_t held_bytes_ = 0;
  size_t lent_ = 0;
  std::multimap<size_t, Block> kept_;  // by size
};

}  // namespace lattice

#endif  // LATTICE_DECODE_ROUTE_NVJPEG_PLANE_POOL_H_
