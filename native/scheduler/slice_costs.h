// How long a model's slices take on each GPU: learned, and corrected by every slice.
#ifndef LATTICE_SCHEDULER_SLICE_COSTS_H_
#define LATTICE_SCHEDULER_SLICE_COSTS_H_

#include <array>
#include <cstddef>
#include <vector>

namespace lattice {

// One figure for each place (a GPU of the engine) and bucket: slices of 1, 2, 3 to 4, 5 to 8 ...
// images. Not thread-safe.
class SliceCosts {
 public:
  explicit SliceCosts(size_t places) : ms_(places) {}

  // A bucket that never ran is reckoned from the nearest one of that place. A place where nothing
  // ran yet is taken for the fastest known one, so that it is tried.
  double PredictMs(size_t place, size_t images) const;

  // Exponentially weighted: about five slices forget a speed that was. One slice counts for at most
  // four times what was predicted and at least a quarter.
  void Observe(size_t place, size_t images, double ms);

 private:
  static constexpr size_t kBuckets = 8;
  using Row = std::array<double, kBuckets>;  // 0: never ran

  static size_t BucketOf(size_t images);
  static double FromRow(const Row& row, size_t bucket);

  std::vector<Row> ms_;
};

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_SLICE_COSTS_H_
