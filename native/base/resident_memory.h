// How much memory the process holds.
#ifndef LATTICE_BASE_RESIDENT_MEMORY_H_
#define LATTICE_BASE_RESIDENT_MEMORY_H_

#include <cstddef>

namespace lattice {

// Bytes in memory that no file backs: heaps and stacks, not programs and libraries. 0 where the
// kernel does not say.
size_t AnonymousResidentBytes();

}  // namespace lattice

#endif  // LATTICE_BASE_RESIDENT_MEMORY_H_
