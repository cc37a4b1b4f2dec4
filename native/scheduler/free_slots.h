// Which of a class's slots no batch has.
#ifndef LATTICE_SCHEDULER_FREE_SLOTS_H_
#define LATTICE_SCHEDULER_FREE_SLOTS_H_

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace lattice {

// Neighbours, as a batch has them.
struct SlotRange {
  int first = 0;
  int count = 1;
};

// Not thread-safe.
class FreeSlots {
 public:
  explicit FreeSlots(int slots) : is_free_(static_cast<size_t>(slots), true) {}

  size_t free() const {
    return static_cast<size_t>(std::count(is_free_.begin(), is_free_.end(), true));
  }

  // The lowest free neighbours whose first is at a multiple of `count`; nothing where there are
  // none.
  std::optional<SlotRange> Take(int count) {
    for (SlotRange range{0, count}; range.first + count <= Slots(); range.first += count) {
      if (std::count(At(range.first), At(range.first + count), true) < count) continue;
      Set(range, false);
      return range;
    }
    return std::nullopt;
  }

  void Give(SlotRange range) { Set(range, true); }

 private:
  int Slots() const { return static_cast<int>(is_free_.size()); }
  std::vector<bool>::iterator At(int slot) { return is_free_.begin() + slot; }
  void Set(SlotRange range, bool is_free) {
    std::fill(At(range.first), At(range.first + range.count), is_free);
  }

  std::vector<bool> is_free_;
};

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_FREE_SLOTS_H_
