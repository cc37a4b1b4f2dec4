// Reports of a read about its progress, so that another thread can tell that it hangs.
#ifndef LATTICE_FILES_READ_OBSERVER_H_
#define LATTICE_FILES_READ_OBSERVER_H_

#include <cstddef>

namespace lattice {

// Called on the thread that reads.
class ReadObserver {
 public:
  virtual ~ReadObserver() = default;
  // Before the first system call in a root, by its position. False: the root must not be used.
  virtual bool EnterRoot(size_t root) = 0;
  // A system call returned.
  virtual void Progress() = 0;
  // Before this many bytes of a file are taken into memory. False: they are not wanted.
  virtual bool TakeBytes(size_t bytes) = 0;
};

}  // namespace lattice

#endif  // LATTICE_FILES_READ_OBSERVER_H_
