// Ends the process when a call into a device's driver does not return.
#ifndef LATTICE_BASE_WATCHED_CALL_H_
#define LATTICE_BASE_WATCHED_CALL_H_

#include <chrono>

#include "native/base/stopwatch.h"

namespace lattice {

// A batch takes milliseconds. A GPU that needs this long hangs, or serves another process.
inline constexpr std::chrono::seconds kLongestDeviceCall{60};

// Neither thread nor memory that a hanging driver holds can be had back: when a WatchedCall lives
// longer than its limit, the ids of the work in progress are written as for a crash
// (CrashMarker::WriteAll), one sentence goes to standard error, and the process ends with exit code
// 69 (EX_UNAVAILABLE) and without exit handlers, to be started again by its supervisor. Time in
// which the whole process stood still does not count.
class WatchedCall {
 public:
  // `doing` ends "while ..." and outlives the call. The first call starts the thread that watches.
  // Throws where the system has no memory, or no thread for the first call.
  WatchedCall(const char* doing, Clock::duration limit);
  ~WatchedCall();
  WatchedCall(const WatchedCall&) = delete;
  WatchedCall& operator=(const WatchedCall&) = delete;

 private:
  class Watch;

  const char* const doing_;
  const Clock::duration limit_;
  Clock::duration ran_{0};  // of the watching thread
};

}  // namespace lattice

#endif  // LATTICE_BASE_WATCHED_CALL_H_
