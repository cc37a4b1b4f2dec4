// Writes the ids of the work in progress to a file when a crash signal kills the process; read by
// src/store/crash-marker.ts.
#ifndef LATTICE_BASE_CRASH_MARKER_H_
#define LATTICE_BASE_CRASH_MARKER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "native/base/status.h"

namespace lattice {

// On SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT the file receives one id per line: first the id
// that the crashing thread works on (0 if none or several), then all ids in progress. Then the
// previous signal handler runs. Nothing is written for SIGKILL or a power cut. The first marker of
// a process installs the handlers for the life of the process; at most 16 markers exist at a time.
class CrashMarker {
 public:
  // Creates or empties the file. With an empty path the marker does nothing. kInternalError if the
  // file cannot be written or too many markers exist.
  static Result<std::unique_ptr<CrashMarker>> Open(const std::string& path);
  ~CrashMarker();  // closes the file and does not delete it
  CrashMarker(const CrashMarker&) = delete;
  CrashMarker& operator=(const CrashMarker&) = delete;

  // Writes the ids of every marker as a crash signal does, for a process that must end because it
  // lost its device. Later calls, and a crash after it, write nothing. Thread-safe.
  static void WriteAll();

  // Marks ids as work of the constructing thread until it is destroyed. Any thread may destroy it,
  // but it must be destroyed before the marker. Lock-free. Ids beyond the table of 1,024 are left
  // out.
  class InHand {
   public:
    InHand(const CrashMarker& marker, std::span<const uint64_t> ids);
    ~InHand();
    InHand(const InHand&) = delete;
    InHand& operator=(const InHand&) = delete;

   private:
    std::vector<size_t> cells_;
  };

 private:
  CrashMarker(int fd, size_t place) : fd_(fd), place_(place) {}

  int fd_;        // -1: does nothing
  size_t place_;  // in the table of the process
};

// Gives the calling thread a stack for signal handlers, so that a stack overflow is marked too.
class SignalStack {
 public:
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  std::unique_ptr<char[]> memory_;
};

}  // namespace lattice

#endif  // LATTICE_BASE_CRASH_MARKER_H_
