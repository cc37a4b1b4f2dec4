// How a read says where it is, so that somebody else can tell that it hangs.
#ifndef LATTICE_FILES_ROOT_VISITS_H_
#define LATTICE_FILES_ROOT_VISITS_H_

#include <cstddef>

namespace lattice {

// Called on the thread that reads.
class RootVisits {
 public:
  virtual ~RootVisits() = default;
  // Before the first call into a root, by its position. False: the root is to be left alone.
  virtual bool Enter(size_t root) = 0;
  // A call of the system came back.
  virtual void Step() = 0;
  // Before so many bytes of a file are taken into memory. False: they are not wanted now.
  virtual bool Take(size_t bytes) = 0;
};

}  // namespace lattice

#endif  // LATTICE_FILES_ROOT_VISITS_H_
