// For what belongs to a GPU that was lost.
#ifndef LATTICE_BASE_KEPT_FOREVER_H_
#define LATTICE_BASE_KEPT_FOREVER_H_

#include <memory>
#include <utility>

namespace lattice {

// Freeing what lies on a lost GPU fails or never comes back, and one that hangs may still read and
// write, so it stays until the process ends. Thread-safe.
void KeepForever(std::shared_ptr<const void> object) noexcept;
template <typename Object>
void KeepForever(std::unique_ptr<Object> object) {
  KeepForever(std::shared_ptr<const Object>(std::move(object)));
}

}  // namespace lattice

#endif  // LATTICE_BASE_KEPT_FOREVER_H_
