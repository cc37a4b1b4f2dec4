// How far one step may be ahead of the next: in images and in their bytes.
#ifndef LATTICE_SCHEDULER_LOOK_AHEAD_H_
#define LATTICE_SCHEDULER_LOOK_AHEAD_H_

#include <algorithm>
#include <cstddef>
#include <limits>

namespace lattice {

// An image of any size fits while no other holds bytes, so that every image passes. Not
// thread-safe.
class LookAhead {
 public:
  static constexpr size_t kUnlimited = std::numeric_limits<size_t>::max();

  LookAhead(size_t most_images, size_t most_bytes)
      : most_images_(most_images), most_bytes_(most_bytes) {}

  // Whether an image of so many bytes may be added; 0 where its size is not known yet.
  bool Fits(size_t bytes) const {
    return bytes_ == 0 || (bytes_ <= most_bytes_ && bytes <= most_bytes_ - bytes_);
  }
  // Images that may be begun, where the next one has `bytes`.
  size_t Available(size_t bytes) const {
    return Fits(bytes) ? most_images_ - std::min(most_images_, images_) : 0;
  }

  // Adds or removes what an image counts for.
  void Set(size_t images, size_t bytes, bool in) {
    images_ = in ? images_ + images : images_ - images;
    bytes_ = in ? bytes_ + bytes : bytes_ - bytes;
  }

  size_t bytes() const { return bytes_; }

 private:
  const size_t most_images_;
  const size_t most_bytes_;
  size_t images_ = 0;
  size_t bytes_ = 0;
};

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_LOOK_AHEAD_H_
