// The part of the scheduler that watches time: deadlines of tasks, and batches that take too long.
#include <algorithm>
#include <utility>

#include "native/scheduler/scheduler.h"

namespace lattice {
namespace {

// Between two looks at a running batch a tick counts at most, so that nothing becomes overdue while
// the whole process stands still. A short limit has short ticks.
Clock::duration Tick(Clock::duration longest_run) {
  return std::min<Clock::duration>(std::chrono::seconds(1), longest_run / 8);
}

Status Overdue() {
  return {StatusCode::kGpuLost,
          "A call into the driver of the GPU does not return: this process cannot use the GPU any "
          "more. Restart the service."};
}

}  // namespace

void Scheduler::AddDeadline(const LiveTaskPtr& live) {
  if (live->task.deadline_ms <= 0) return;
  const auto wait = std::chrono::duration<double, std::milli>(live->task.deadline_ms);
  const auto due = live->submitted + std::chrono::duration_cast<Clock::duration>(wait);
  live->deadline = deadlines_.emplace(due, live);
  // The thread sleeps on when it wakes early enough anyway: most deadlines are never reached.
  if (due < deadline_wake_) deadline_work_.NotifyOne();
}

// Whether a sync task has less time left than the network takes on average. Async tasks wait long
// and are dropped at their deadline only.
bool Scheduler::IsTooLate(const LiveTask& live) {
  if (!live.sync() || !live.deadline) return false;
  const double left_ms = Milliseconds((*live.deadline)->first - Clock::now());
  const auto mean = sync_batch_ms_.find(live.task.engine);
  return left_ms <= (mean == sync_batch_ms_.end() ? 0 : mean->second);
}

void Scheduler::EndIfTooLate(const LiveTaskPtr& live) {
  if (!IsTooLate(*live)) return;
  // A network that was slow for a moment is measured again after some drops.
  constexpr double kForget = 0.9;
  const auto mean = sync_batch_ms_.find(live->task.engine);
  if (mean != sync_batch_ms_.end()) mean->second *= kForget;
  End(live, {StatusCode::kDeadlineExceeded, "Too little time was left to run the image."});
}

void Scheduler::Watch(const RunningBatch& batch) {
  const auto longest = batch.engine->longest_run();
  if (!longest) return;
  look_at_ = std::min(look_at_, batch.looked + Tick(*longest));
  if (look_at_ < deadline_wake_) deadline_work_.NotifyOne();
}

void Scheduler::LookForOverdue(Clock::time_point now) {
  look_at_ = Clock::time_point::max();
  for (const RunningBatchPtr& batch : running_) {
    const auto longest = batch->engine->longest_run();
    if (!longest) continue;
    const auto tick = Tick(*longest);
    batch->ran += std::min(now - std::exchange(batch->looked, now), tick);
    if (batch->ran >= *longest) return Lose(Overdue());
    look_at_ = std::min(look_at_, now + tick);
  }
}

// Ends with the scheduler, but not before every batch has returned or the device is lost.
void Scheduler::DeadlineLoop() {
  mutex_.Lock();
  while (!closing_ || (!running_.empty() && lost_.ok())) {
    const auto now = Clock::now();
    if (now >= look_at_) LookForOverdue(now);
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
      const LiveTaskPtr live = deadlines_.begin()->second;
      End(live, {StatusCode::kDeadlineExceeded, "The deadline passed before the image was done."});
    }
    if (!outbox_.answers.empty() || outbox_.device_lost) {
      Release();
      mutex_.Lock();
      continue;
    }
    deadline_wake_ = look_at_;
    if (!deadlines_.empty()) deadline_wake_ = std::min(deadline_wake_, deadlines_.begin()->first);
    if (deadline_wake_ == Clock::time_point::max()) {
      deadline_work_.Wait(mutex_);
    } else {
      deadline_work_.WaitUntil(mutex_, deadline_wake_);
    }
  }
  mutex_.Unlock();
}

}  // namespace lattice
