// How far decoding may be ahead of the network: in images, and in bytes of their pixels.
#ifndef LATTICE_SCHEDULER_LOOK_AHEAD_H_
#define LATTICE_SCHEDULER_LOOK_AHEAD_H_

#include <algorithm>
#include <cstddef>

namespace lattice {

// Images count from the start of their decoding until a slice takes them, their bytes until nobody
// reads the pixels any more: a slice in hand holds its bytes too. One image fits whatever its size
// while no other holds bytes, so that every image gets through. Not thread-safe.
class LookAhead {
 public:
  LookAhead(size_t most_images, size_t most_bytes)
      : most_images_(most_images), most_bytes_(most_bytes) {}

  // Whether an image of so many bytes may be added; 0 where its size is not known yet.
  bool Fits(size_t bytes) const { return bytes_ == 0 || bytes_ + bytes <= most_bytes_; }
  // Images that may be begun, where the next one has `bytes`.
  size_t Room(size_t bytes) const {
    return Fits(bytes) ? most_images_ - std::min(most_images_, images_) : 0;
  }

  void AddImage() { ++images_; }
  void RemoveImage() { --images_; }
  // An image that holds `*held` bytes holds `bytes` from now on.
  void Hold(size_t bytes, size_t* held) {
    bytes_ = bytes_ - *held + bytes;
    *held = bytes;
  }

  size_t images() const { return images_; }
  size_t bytes() const { return bytes_; }

 private:
  const size_t most_images_;
  const size_t most_bytes_;
  size_t images_ = 0;
  size_t bytes_ = 0;
};

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_LOOK_AHEAD_H_
