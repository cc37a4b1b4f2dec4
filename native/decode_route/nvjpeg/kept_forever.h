// For what belongs to a GPU that was lost.
#ifndef LATTICE_DECODE_ROUTE_NVJPEG_KEPT_FOREVER_H_
#define LATTICE_DECODE_ROUTE_NVJPEG_KEPT_FOREVER_H_

#include <memory>

namespace lattice {

// Freeing what lies on a lost GPU fails or never comes back, so it stays until the process ends.
// Thread-safe.
void KeepForever(std::shared_ptr<const void> object);

}  // namespace lattice

#endif  // LATTICE_DECODE_ROUTE_NVJPEG_KEPT_FOREVER_H_
