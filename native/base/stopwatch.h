// Milliseconds of the monotonic clock.
#ifndef LATTICE_BASE_STOPWATCH_H_
#define LATTICE_BASE_STOPWATCH_H_

#include <chrono>

namespace lattice {

using Clock = std::chrono::steady_clock;

inline double Milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

// Starts when constructed.
class Stopwatch {
 public:
  // Time since the start or the last lap.
  double Lap() {
    const auto now = Clock::now();
    const double ms = Milliseconds(now - start_);
    start_ = now;
    return ms;
  }

 private:
  Clock::time_point start_ = Clock::now();
};

}  // namespace lattice

#endif  // LATTICE_BASE_STOPWATCH_H_
