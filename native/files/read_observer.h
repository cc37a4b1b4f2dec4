// Is told by a read of its progress, so that another thread can tell that the read hangs.
#ifndef LATTICE_FILES_READ_OBSERVER_H_
#define LATTICE_FILES_READ_OBSERVER_H_

#include <cstddef>

namespace lattice {

// Called on the thread that reads.
class ReadObserver {
 public:
  virtual ~ReadObserver() = default;
  // Called before the first system call beneath an image root. `root`: its index in the list of
  // roots. False: the read ends with kVolumeUnavailable.
  virtual bool EnterRoot(size_t root) = 0;
  // Called when a system call has returned.
  virtual void Progress() = 0;
  // Called before this many bytes of a file are read into memory. False: the read ends with
  // kCancelled.
  virtual bool TakeBytes(size_t bytes) = 0;
};

}  // namespace lattice

#endif  // LATTICE_FILES_READ_OBSERVER_H_
