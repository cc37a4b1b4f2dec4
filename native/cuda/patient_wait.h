// Waiting for a GPU, with an end. Plain C++: the question is the caller's.
#ifndef LATTICE_CUDA_PATIENT_WAIT_H_
#define LATTICE_CUDA_PATIENT_WAIT_H_

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "native/base/stopwatch.h"

namespace lattice {

// A slice takes milliseconds. A GPU that needs this long hangs, or is another process's.
inline constexpr std::chrono::seconds kGpuPatience{30};

// kSpin takes a core and returns within a microsecond; kBlock sleeps between questions.
enum class WaitMode { kSpin, kBlock };

// The clock that waits go by; tests bring their own.
struct SteadyTime {
  static Clock::time_point Now() { return Clock::now(); }
  static void Sleep(Clock::duration time) { std::this_thread::sleep_for(time); }
};

// Asks `over()` until it says yes; false when `patience` has passed before. A yes that comes late
// counts, and so does no time in which this process stood still.
//
// cudaEventSynchronize knows no deadline, and a thread that waits in it for a GPU that hangs can
// only be abandoned, with all that it holds. So both modes ask. Spinning looks at the clock once in
// many questions. Sleeping takes steps of an eighth of what it has waited, 20 us to 0.25 ms: it
// wakes up an eighth of a short slice late and 0.25 ms of a long one, which costs no throughput
// where a GPU has the next slice queued, and asks some 40 times in a slice of 10 ms. Who knows how
// long it will take says so in `expected`: three quarters of it are slept in one go.
template <typename Over, typename Time = SteadyTime>
bool WaitPatiently(WaitMode mode, Clock::duration patience, const Over& over, Time time = {},
                   Clock::duration expected = {}) {
  constexpr int kQuestionsALook = 64;
  constexpr std::chrono::microseconds kShortestSleep{20};
  constexpr std::chrono::microseconds kLongestSleep{250};
  // No look comes this long after the last one unless the process stood still.
  constexpr std::chrono::milliseconds kMostCounted{250};
  // Shorter than what counts as standing still.
  constexpr std::chrono::milliseconds kLongestFirstSleep{200};
  Clock::duration waited{};
  auto first_sleep = std::min<Clock::duration>(expected / 4 * 3, kLongestFirstSleep);
  auto looked = time.Now();
  while (true) {
    for (int i = mode == WaitMode::kSpin ? kQuestionsALook : 1; i > 0; --i) {
      if (over()) return true;
    }
    if (waited >= patience) return false;
    if (mode == WaitMode::kBlock) {
      const auto step = std::clamp<Clock::duration>(waited / 8, kShortestSleep, kLongestSleep);
      time.Sleep(std::max(step, std::exchange(first_sleep, Clock::duration{})));
    }
    const auto now = time.Now();
    waited += std::min<Clock::duration>(now - looked, kMostCounted);
    looked = now;
  }
}

}  // namespace lattice

#endif  // LATTICE_CUDA_PATIENT_WAIT_H_
