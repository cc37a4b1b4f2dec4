// The part of the scheduler that gives up slices whose engine does not come back.
#include <utility>

#include "native/base/abandoned_gpu.h"
#include "native/scheduler/scheduler.h"

namespace lattice {
namespace {

Status Overdue() {
  return {StatusCode::kGpuLost,
          "A call into the driver of the GPU does not return: the GPU is lost to this process. "
          "Restart the service."};
}

}  // namespace

// The slice is the calling thread's, and watched where its engine says how long it may take.
RunningSlicePtr Scheduler::Begin(Lane lane, ChosenSlice chosen) {
  auto running = std::make_shared<RunningSlice>();
  running->Start(std::move(chosen.slice), marker_);
  running->place = chosen.place;
  const auto now = Clock::now();
  const PlannedSlice planned{&models_.Of(running->engine).costs, running->slice.size()};
  running->planned =
      planner_.Begin(lane, planned, chosen.place, Milliseconds(now.time_since_epoch()));
  const auto longest = running->engine->longest_run();
  if (longest) overdue_.Begin(running, *longest, now);
  if (overdue_.next_look() < deadline_wake_) deadline_work_.notify_one();
  return running;
}

// Slices that are overdue lose their device, with all that runs there. What is returned must be let
// go of without the lock: it may be the last that uses an engine.
std::vector<RunningSlicePtr> Scheduler::GiveUp(Clock::time_point now,
                                               std::vector<TaskResult>* results) {
  if (now < overdue_.next_look()) return {};
  std::vector<RunningSlicePtr> overdue = overdue_.Look(now);
  for (size_t i = 0; i < overdue.size(); ++i) {
    const RunningSlicePtr running = overdue[i];
    // Before the claim, from which on its thread may come back.
    left_->Leave(running->thread);
    if (!running->Claim()) {
      (void)left_->TakeBack(running->thread);
      continue;
    }
    // Whatever the process should crash of later, these images are elsewhere.
    running->in_hand.reset();
    // It may still read all that it was given.
    AbandonGpu();
    LeaveSlice(running, Overdue(), results);
    review_at_ = now;
    // As with a fault, what else is there goes too: it would wait as long for the same driver.
    for (RunningSlicePtr& beside : overdue_.TakeAt(running->place)) {
      overdue.push_back(std::move(beside));
    }
  }
  return overdue;
}

}  // namespace lattice
