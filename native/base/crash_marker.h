// Leaves the ids of the work in hand in a file when a crash signal kills the process.
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

// On SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT the file gets one id a line: first the id that the
// crashing thread had in hand (0 when it had none or several), then every id in hand. Then the
// handler that was there before takes over. Nothing is written for SIGKILL or a power cut. The
// first marker of a process installs the handlers for good; up to 16 markers live at a time.
class CrashMarker {
 public:
  // Creates or empties the file. An empty path makes a marker that does nothing. kInternalError
  // when the file cannot be written or too many markers live.
  static Result<std::unique_ptr<CrashMarker>> Open(const std::string& path);
  ~CrashMarker();  // closes the file and leaves it
  CrashMarker(const CrashMarker&) = delete;
  CrashMarker& operator=(const CrashMarker&) = delete;

  // Work of the calling thread from construction to destruction, which must happen before the
  // marker's end, on whatever thread. Lock-free. What does not fit the table of 1,024 ids is left
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

  int fd_;  // -1: does nothing
  size_t place_;
};

// Gives the calling thread a stack for signal handlers, so that a stack overflow leaves its marker
// too.
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
