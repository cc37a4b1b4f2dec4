// Which slots of a lane are free.
#ifndef LATTICE_SCHEDULER_SLOT_POOL_H_
#define LATTICE_SCHEDULER_SLOT_POOL_H_

#include <cstddef>
#include <optional>
#include <vector>

namespace lattice {

// Numbers 0 to slots - 1, an equal share for each place in turn, as Engine::slots has them: `slots`
// is a multiple of `places`. Whoever takes one gives it back after the last use of what ran there.
// Not thread-safe.
class SlotPool {
 public:
  SlotPool(size_t slots, size_t places) : share_(slots / places), free_(places) {
    for (size_t slot = slots; slot-- > 0;) GiveBack(slot);
  }

  std::optional<size_t> Take(size_t place) {
    if (free_[place].empty()) return std::nullopt;
    const size_t slot = free_[place].back();
    free_[place].pop_back();
    return slot;
  }

  void GiveBack(size_t slot) { free_[slot / share_].push_back(slot); }

 private:
  const size_t share_;
  std::vector<std::vector<size_t>> free_;  // of each place
};

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_SLOT_POOL_H_
