// Freeing memory where nobody waits for it.
#ifndef LATTICE_CUDA_LATER_FREE_H_
#define LATTICE_CUDA_LATER_FREE_H_

#include <memory>
#include <utility>

namespace lattice {

// Destroys the object on a thread of its own, soon. CUDA frees memory only when the GPU has ended
// what it does, other slices too: where that takes for ever, only that thread hangs, which nobody
// waits for. Not for memory that somebody is about to allocate anew. Thread-safe.
void DestroyLater(std::shared_ptr<const void> object);

template <typename Owner>
void FreeLater(Owner owner) {
  DestroyLater(std::make_shared<const Owner>(std::move(owner)));
}

}  // namespace lattice

#endif  // LATTICE_CUDA_LATER_FREE_H_
