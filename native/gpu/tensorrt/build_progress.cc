#include "native/gpu/tensorrt/build_progress.h"

#include <algorithm>

namespace lattice {

void BuildProgress::Start(const std::string& phase, const std::string& parent, int steps) {
  const std::lock_guard lock(mutex_);
  // The parent's previous phase has ended, whether TensorRT reported that or not.
  const auto found = std::find_if(open_.begin(), open_.end(),
                                  [&](const Phase& other) { return other.name == parent; });
  open_.erase(found == open_.end() ? open_.begin() : found + 1, open_.end());
  open_.push_back({phase, std::max(1, steps), 0});
}

void BuildProgress::FinishStep(const std::string& phase, int step) {
  const std::lock_guard lock(mutex_);
  for (Phase& open : open_) {
    if (open.name == phase) open.done = std::clamp(step + 1, open.done, open.steps);
  }
  Advance();
}

void BuildProgress::Finish(const std::string& phase) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(open_.begin(), open_.end(),
                                  [&](const Phase& open) { return open.name == phase; });
  if (found == open_.end()) return;
  found->done = found->steps;
  open_.erase(found + 1, open_.end());
  Advance();
  open_.pop_back();
}

double BuildProgress::share() const {
  const std::lock_guard lock(mutex_);
  return share_;
}

void BuildProgress::Advance() {
  double share = 0;
  double step = 1;
  for (const Phase& phase : open_) {
    step /= phase.steps;
    share += step * std::min(phase.done, phase.steps);
  }
  share_ = std::clamp(share, share_, 1.0);
}

}  // namespace lattice
