// The library and the CPU, on which the kept files of the CPU engine depend.
#ifndef LATTICE_CPU_LIBRARY_AND_CPU_H_
#define LATTICE_CPU_LIBRARY_AND_CPU_H_

#include <string>

namespace lattice {

// The build of the library, and the model and the instruction sets of this CPU.
std::string LibraryAndCpu();

}  // namespace lattice

#endif  // LATTICE_CPU_LIBRARY_AND_CPU_H_
