// Which image folders' volumes do not answer, and when one of them is tried again.
#ifndef LATTICE_FILES_ROOT_HEALTH_H_
#define LATTICE_FILES_ROOT_HEALTH_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

#include "native/base/stopwatch.h"

namespace lattice {

// How long a volume is waited for. A single call of the system that takes 5 s is no slow disk.
struct VolumePatience {
  std::chrono::milliseconds without_sign{5'000};
  std::chrono::milliseconds first_trial{2'000};  // then twice as long each time
  std::chrono::milliseconds last_trial{60'000};
  // Reads left behind beneath one root. With so many nothing is tried until one comes back.
  int most_left = 32;
};

// Roots by their position. Not thread-safe.
class RootHealth {
 public:
  RootHealth(size_t roots, const VolumePatience& patience) : patience_(patience), roots_(roots) {}

  // Whether a read may go there.
  bool MayEnter(size_t root) const { return !roots_[root].hangs && HasRoom(root); }
  // A read came back from there.
  void Answered(size_t root) { roots_[root].hangs = false; }

  // A read there is given up: nobody waits for it from now on.
  void Leave(size_t root, Clock::time_point now) {
    State& state = roots_[root];
    ++state.left;
    if (state.hangs) return;
    state.hangs = true;
    state.trial_pause = patience_.first_trial / 2;
    state.next_trial = now + patience_.first_trial;
  }
  // One that nobody waits for came back, or could not be begun.
  void EndLeft(size_t root) { --roots_[root].left; }

  // Whether it is time to read there to see whether it answers. Such a read is left from the start.
  bool BeginTrial(size_t root, Clock::time_point now) {
    State& state = roots_[root];
    if (now < state.next_trial || !HasRoom(root)) return false;
    state.trial_pause = std::min<Clock::duration>(2 * state.trial_pause, patience_.last_trial);
    state.next_trial = now + state.trial_pause;
    ++state.left;
    return true;
  }

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
    int left = 0;  // reads that nobody waits for and that have not come back
    Clock::time_point next_trial;
    Clock::duration trial_pause{};
  };

  bool HasRoom(size_t root) const { return roots_[root].left < patience_.most_left; }

  const VolumePatience patience_;
  std::vector<State> roots_;
};

}  // namespace lattice

#endif  // LATTICE_FILES_ROOT_HEALTH_H_
