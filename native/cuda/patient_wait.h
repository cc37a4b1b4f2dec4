// Waiting for a GPU with a time limit. Plain C++: the caller supplies the query.
#ifndef LATTICE_CUDA_PATIENT_WAIT_H_
#define LATTICE_CUDA_PATIENT_WAIT_H_

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "native/base/stopwatch.h"

namespace lattice {

// A batch takes milliseconds. A GPU that needs this long hangs, or serves another process.
inline constexpr std::chrono::seconds kGpuPatience{30};

// kSpin occupies a core and returns within a microsecond; kBlock sleeps between queries.
enum class WaitMode { kSpin, kBlock };

// The clock of the wait; tests supply their own.
struct SteadyTime {
  static Clock::time_point Now() { return Clock::now(); }
  static void Sleep(Clock::duration time) { std::this_thread::sleep_for(time); }
};

// Calls `over()` until it returns true; returns false when `patience` has passed before that. Time
// in which the whole process stood still does not count.
//
// cudaEventSynchronize has no deadline: a thread that waits in it for a GPU that hangs cannot
// report the loss. So both modes query. Spinning reads the clock once per 64 queries. Sleeping
// takes steps of an eighth of the time waited so far, 20 us to 0.25 ms: it wakes up at most 0.25 ms
// late, which costs no throughput while the GPU has the next batch queued, and queries about 40
// times during a batch of 10 ms. Callers that can predict the wait pass it as `expected`: three
// quarters of it are slept in one step.
template <typename Over, typename Time = SteadyTime>
bool WaitPatiently(WaitMode mode, Clock::duration patience, const Over& over, Time time = {},
                   Clock::duration expected = {}) {
  constexpr int kQueriesPerLook = 64;
  constexpr std::chrono::microseconds kShortestSleep{20};
  constexpr std::chrono::microseconds kLongestSleep{250};
  // Two looks at the clock are further apart only if the process stood still.
  constexpr std::chrono::milliseconds kMostCounted{250};
  // Shorter than kMostCounted, so that all of it counts.
  constexpr std::chrono::milliseconds kLongestFirstSleep{200};
  Clock::duration waited{};
  auto first_sleep = std::min<Clock::duration>(expected / 4 * 3, kLongestFirstSleep);
  auto looked = time.Now();
  while (true) {
    for (int i = mode == WaitMode::kSpin ? kQueriesPerLook : 1; i > 0; --i) {
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
