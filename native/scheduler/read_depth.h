// How many files of jobs are read at a time: more only as long as that raises the rate.
#ifndef LATTICE_SCHEDULER_READ_DEPTH_H_
#define LATTICE_SCHEDULER_READ_DEPTH_H_

#include <algorithm>
#include <cstddef>

namespace lattice {

// A volume with a long delay gives twice the rate for twice as many reads. A volume at its limit
// gives no more, and each file then waits for all the reads before it. To tell which it is, the
// depth is halved or doubled now and then while decoding waits for files. It keeps the new depth if
// the rate fell little, or rose enough.
//
// Only arithmetic: no thread, no clock. Not thread-safe. Times are milliseconds of any steady
// clock.
class ReadDepth {
 public:
  static constexpr double kTryAgainMs = 10'000;
  // Twice as many reads that bring less than this are too many.
  static constexpr double kWorth = 1.3;

  // Begins with `most`. 1 <= least <= most.
  ReadDepth(size_t least, size_t most) : least_(least), most_(most), depth_(most) {}

  size_t depth() const { return depth_; }

  // A file came. `bound`: decoding waits for it, and only the depth keeps more from being read.
  void Came(bool bound, double now_ms);

 private:
  enum class Trial { kNone, kFewer, kMore };

  size_t Fewer() const { return std::max(depth_ / 2, least_); }
  size_t More() const { return std::min(depth_ * 2, most_); }
  void OnRate(double rate, double now_ms);
  void Begin(Trial trial, double rate);
  void Restart(double now_ms);

  const size_t least_;
  const size_t most_;
  size_t depth_;
  Trial trial_ = Trial::kNone;
  Trial last_ = Trial::kMore;  // of the trials that ended
  double rate_before_ = 0;     // files per millisecond
  double next_trial_ms_ = 0;
  size_t unsettled_ = 0;  // files that were asked for at another depth
  size_t files_ = 0;      // that came since
  double since_ms_ = 0;
};

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_READ_DEPTH_H_
