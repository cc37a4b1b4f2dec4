#include "native/scheduler/read_depth.h"

#include <algorithm>

namespace lattice {
namespace {

// Files that tell a rate.
size_t Sample(size_t depth) { return 8 + 2 * depth; }

}  // namespace

void ReadDepth::Came(bool bound, double now_ms) {
  if (!bound) {
    // Enough at this depth, so whatever was tried is right.
    if (trial_ != Trial::kNone) last_ = trial_;
    trial_ = Trial::kNone;
    unsettled_ = 0;
    Restart(now_ms);
    return;
  }
  if (unsettled_ > 0) {
    --unsettled_;
    Restart(now_ms);
    return;
  }
  if (++files_ < Sample(depth_)) return;
  const double rate = static_cast<double>(files_) / std::max(now_ms - since_ms_, 1e-3);
  Judge(rate, now_ms);
  Restart(now_ms);
}

void ReadDepth::Judge(double rate, double now_ms) {
  const Trial tried = trial_;
  trial_ = Trial::kNone;
  if (tried == Trial::kNone) {
    if (now_ms < next_trial_ms_) return;
    const bool fewer = depth_ > least_ && (last_ == Trial::kMore || depth_ == most_);
    Begin(fewer ? Trial::kFewer : Trial::kMore, rate);
    return;
  }
  last_ = tried;
  const bool stays =
      tried == Trial::kMore ? rate >= kWorth * rate_before_ : rate * kWorth > rate_before_;
  // A change that helped is tried again at once.
  if (stays) {
    Begin(tried, rate);
  } else {
    unsettled_ = depth_;
    depth_ = tried == Trial::kMore ? Fewer() : More();
  }
  if (trial_ == Trial::kNone) next_trial_ms_ = now_ms + kTryAgainMs;
}

// Does nothing where the depth can go no further.
void ReadDepth::Begin(Trial trial, double rate) {
  const size_t depth = trial == Trial::kFewer ? Fewer() : More();
  if (depth == depth_) return;
  unsettled_ = depth_;
  depth_ = depth;
  trial_ = trial;
  rate_before_ = rate;
}

void ReadDepth::Restart(double now_ms) {
  files_ = 0;
  since_ms_ = now_ms;
}

}  // namespace lattice
