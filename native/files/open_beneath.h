// Resolves a relative path without ever leaving a folder, even while its tree is renamed.
#ifndef LATTICE_FILES_OPEN_BENEATH_H_
#define LATTICE_FILES_OPEN_BENEATH_H_

#include <string>

namespace lattice {

// Both open `path` (relative, no `..` of its own) for reading beneath the directory `root_fd`,
// never block on a FIFO or a device and never become a controlling terminal. Symbolic links are
// followed while they stay beneath. Return a descriptor that the caller closes, or -errno: EXDEV
// and ELOOP mean that the path leaves the folder or goes in circles. Thread-safe.

// By openat2 where the kernel and its sandbox have it, else by OpenBeneathByWalk.
int OpenBeneath(int root_fd, const std::string& path);

// The same answer on kernels without openat2: one component at a time, each opened without
// following links.
int OpenBeneathByWalk(int root_fd, const std::string& path);

}  // namespace lattice

#endif  // LATTICE_FILES_OPEN_BENEATH_H_
