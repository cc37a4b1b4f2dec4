// Reads files on threads that may be left behind, since a volume that is gone does not say so.
#ifndef LATTICE_FILES_PATIENT_FILES_H_
#define LATTICE_FILES_PATIENT_FILES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "native/base/status.h"
#include "native/files/root_health.h"
#include "native/files/rooted_files.h"

namespace lattice {

// A file that is wanted. The functions are called on threads of the files and must neither block
// nor throw.
struct FileRequest {
  std::string path;
  // Whether so many bytes may be taken into memory, asked when the size is known, and again where
  // the file is opened anew; never once it is answered. Empty: any.
  std::function<bool(size_t bytes)> may_take = {};
  // Called once. The whole file; codes of RootedFiles::Read, of which kCancelled says that
  // `may_take` refused. Also kVolumeUnavailable where a root that has to be asked hangs, and
  // kInternalError where the system has neither memory nor a thread for it.
  std::function<void(Result<std::vector<uint8_t>>)> on_read;
};

// Many files are read at a time: on a volume that is far away each of them takes long, and the time
// of one is the time of all that were asked for together.
//
// A call into a network volume whose server is gone comes back when the server does, if ever, and
// nothing ends it sooner. So reads are watched, and given up when there was no sign of life for too
// long. From then on the root hangs: reads beneath it are refused at once, while trials that nobody
// waits for find out when it answers again. Other roots are not concerned.
//
// Thread-safe. Has as many threads as there were slow reads at the same time, and one for each read
// that was left behind.
class PatientFiles {
 public:
  // At most `most_threads` files are read at a time, those left behind not counted; 1 or more.
  explicit PatientFiles(RootedFiles files, VolumePatience patience = {}, size_t most_threads = 64);
  ~PatientFiles();  // as Close
  PatientFiles(const PatientFiles&) = delete;
  PatientFiles& operator=(const PatientFiles&) = delete;

  // Never waits. In the order of asking, as far as threads are free. After Close it is answered
  // with kShuttingDown, on the calling thread.
  void Read(FileRequest request) const;

  // Positions of the roots that hang, ascending.
  std::vector<size_t> HangingRoots() const;

  // Waits until all that was asked for is answered. Not for reads that were left behind: what those
  // use lives until they end. Idempotent; not to be called from a request's function.
  void Close() const;

 private:
  class Volumes;

  std::shared_ptr<Volumes> volumes_;
};

}  // namespace lattice

#endif  // LATTICE_FILES_PATIENT_FILES_H_
