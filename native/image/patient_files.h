// Reads files on threads that may be left behind, since a volume that is gone does not say so.
#ifndef LATTICE_IMAGE_PATIENT_FILES_H_
#define LATTICE_IMAGE_PATIENT_FILES_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "native/base/status.h"
#include "native/image/rooted_files.h"

namespace lattice {

// How long a volume is waited for. A single call of the system that takes 5 s is no slow disk.
struct VolumePatience {
  std::chrono::milliseconds without_sign{5'000};
  std::chrono::milliseconds first_trial{2'000};  // then twice as long each time
  std::chrono::milliseconds last_trial{60'000};
  // Reads left behind beneath one root. With so many nothing is tried until one comes back.
  int most_left = 32;
};

// A call into a network volume whose server is gone comes back when the server does, if ever, and
// nothing ends it sooner. So callers wait here while other threads read, and give up when there was
// no sign of life for too long. From then on the root hangs: reads beneath it are refused at once,
// while trials that nobody waits for find out when it answers again. Other roots are not concerned.
//
// Thread-safe. Keeps a thread for each caller that there was at the same time, and has one for each
// read that was left behind.
class PatientFiles {
 public:
  explicit PatientFiles(RootedFiles files, VolumePatience patience = {});
  // Waits for no read that was left behind: what those use lives until they end.
  ~PatientFiles();
  PatientFiles(const PatientFiles&) = delete;
  PatientFiles& operator=(const PatientFiles&) = delete;

  // As RootedFiles::Read. Also kVolumeUnavailable where a root that has to be asked hangs, and
  // kInternalError where the system gives no thread.
  Result<std::vector<uint8_t>> Read(const std::string& path) const;

  // Positions of the roots that hang, ascending.
  std::vector<size_t> HangingRoots() const;

 private:
  class Volumes;

  std::shared_ptr<Volumes> volumes_;
};

}  // namespace lattice

#endif  // LATTICE_IMAGE_PATIENT_FILES_H_
