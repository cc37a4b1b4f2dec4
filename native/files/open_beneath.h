// Resolves a relative path without ever leaving the image folders, even while their trees are
// renamed.
#ifndef LATTICE_FILES_OPEN_BENEATH_H_
#define LATTICE_FILES_OPEN_BENEATH_H_

#include <cstddef>
#include <span>
#include <string>

#include "native/files/read_observer.h"

namespace lattice {

// A folder beneath which files are opened. Paths are absolute, without a slash at the end.
struct RootFolder {
  std::string path;       // as it was configured
  std::string real_path;  // the same folder without links
  int fd = -1;
};

struct OpenedFile {
  int fd;       // a descriptor that the caller closes, or -errno
  size_t root;  // in which the path ends
  // EXDEV: the link that leads out of all roots. ELOOP: one link too many. Beneath its root.
  std::string link;
};

// Both open `path` (relative, no `..` of its own) for reading beneath `roots[root]`, never block on
// a FIFO or a device and never become a controlling terminal. Symbolic links are followed while
// they stay beneath the roots: a target is text that is walked from the descriptor of the root in
// which it lies, also an absolute one and one that reaches another root through `..`. What lies
// outside is never asked for. The same rule as in src/files/listing/resolve-beneath.ts. EXDEV and
// ELOOP mean that the path leads out or goes in circles, ECANCELED that `observer` refused the root
// that it leads to. Thread-safe.

// Uses openat2 where the kernel and its sandbox have it and no link leaves the root, else
// OpenBeneathByWalk.
OpenedFile OpenBeneath(std::span<const RootFolder> roots, size_t root, const std::string& path,
                       ReadObserver& observer);

// The same answer on kernels without openat2: one component at a time, each opened without
// following links.
OpenedFile OpenBeneathByWalk(std::span<const RootFolder> roots, size_t root,
                             const std::string& path, ReadObserver& observer);

}  // namespace lattice

#endif  // LATTICE_FILES_OPEN_BENEATH_H_
