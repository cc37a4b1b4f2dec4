// Which image folders' volumes do not answer, and when one of them is tried again.
#ifndef LATTICE_FILES_ROOT_HEALTH_H_
#define LATTICE_FILES_ROOT_HEALTH_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

#include "native/base/stopwatch.h"

namespace lattice {

// How long a read waits for a volume. One system call of 5 s is not a slow disk.
struct VolumePatience {
  std::chrono::milliseconds without_progress{5'000};
  std::chrono::milliseconds first_trial{2'000};  // then twice as long each time
  std::chrono::milliseconds last_trial{60'000};
  // Abandoned reads per root. With so many nothing is tried until one of them returns.
  int most_abandoned = 32;
};

// Roots by their position. Not thread-safe.
class RootHealth {
 public:
  RootHealth(size_t roots, const VolumePatience& patience) : patience_(patience), roots_(roots) {}

  // Whether a read may use the root. On one that hangs only the next trial may: one read in
  // first_trial, then in twice that time, up to last_trial.
  bool MayEnter(size_t root, Clock::time_point now) {
    State& state = roots_[root];
    if (state.abandoned >= patience_.most_abandoned) return false;
    if (!state.hangs) return true;
    if (now < state.next_trial) return false;
    state.trial_pause = std::min<Clock::duration>(2 * state.trial_pause, patience_.last_trial);
    state.next_trial = now + state.trial_pause;
    return true;
  }

  // A system call in the root returned.
  void Answered(size_t root) { roots_[root].hangs = false; }

  // A read there is given up; its thread has not returned.
  void Abandon(size_t root, Clock::time_point now) {
    State& state = roots_[root];
    ++state.abandoned;
    if (state.hangs) return;
    state.hangs = true;
    state.trial_pause = patience_.first_trial / 2;
    state.next_trial = now + patience_.first_trial;
  }
  // An abandoned read returned.
  void EndAbandoned(size_t root) { --roots_[root].abandoned; }

  // Ascending.
  std::vector<size_t> Hanging() const {
    std::vector<size_t> hanging;
    for (size_t root = 0; root < roots_.size(); ++root) {
      if (roots_[root].hangs) hanging.push_back(root);
    }
    return hanging;
  }

 private:
  struct State {
    bool hangs = false;
    int abandoned = 0;
    Clock::time_point next_trial;
    Clock::duration trial_pause{};
  };

  const VolumePatience patience_;
  std::vector<State> roots_;
};

}  // namespace lattice

#endif  // LATTICE_FILES_ROOT_HEALTH_H_
