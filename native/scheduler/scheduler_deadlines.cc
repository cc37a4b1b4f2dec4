// The part of the scheduler that watches deadlines.
#include <algorithm>
#include <utility>

#include "native/scheduler/scheduler.h"

namespace lattice {
namespace {

// How long a slice may wait for a device that hangs until another one is looked for.
constexpr auto kReviewAfter = std::chrono::milliseconds(5);

}  // namespace

void Scheduler::AddDeadline(const LiveTaskPtr& live) {
  if (live->task.deadline_ms <= 0) return;
  const auto wait = std::chrono::duration<double, std::milli>(live->task.deadline_ms);
  const auto due = live->submitted + std::chrono::duration_cast<Clock::duration>(wait);
  live->deadline = deadlines_.emplace(due, live);
  // The thread is left asleep when it wakes early enough anyway: the usual deadline is never
  // reached.
  if (due < deadline_wake_) deadline_work_.notify_one();
}

void Scheduler::ReviewSoon() {
  if (review_at_ != Clock::time_point::max()) return;
  review_at_ = Clock::now() + kReviewAfter;
  if (review_at_ < deadline_wake_) deadline_work_.notify_one();
}

// Ends with the scheduler, but not before every slice has come back or was given up.
void Scheduler::DeadlineLoop() {
  std::unique_lock lock(mutex_);
  while (!closing_ || !overdue_.empty()) {
    std::vector<TaskResult> results;
    const auto now = Clock::now();
    std::vector<RunningSlicePtr> overdue = GiveUp(now, &results);
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
      const LiveTaskPtr live = deadlines_.begin()->second;
      Withdraw(live);
      results.push_back(Answer(
          live, {StatusCode::kDeadlineExceeded, "The deadline passed before the image was done."}));
    }
    if (!results.empty() || !overdue.empty()) {
      const bool more = Decodable(Lane::kAsync) > 0;
      lock.unlock();
      if (more) async_lane_.decode_work.notify_all();
      Deliver(std::move(results));
      overdue.clear();
      lock.lock();
      continue;
    }
    deadline_wake_ = std::min(review_at_, overdue_.next_look());
    if (!deadlines_.empty()) deadline_wake_ = std::min(deadline_wake_, deadlines_.begin()->first);
    if (deadline_wake_ == Clock::time_point::max()) {
      deadline_work_.wait(lock);
    } else {
      deadline_work_.wait_until(lock, deadline_wake_);
    }
    if (Clock::now() < review_at_) continue;
    review_at_ = Clock::time_point::max();
    for (const Lane lane : {Lane::kSync, Lane::kAsync}) {
      std::condition_variable* const wake = NextWake(lane);
      if (wake != nullptr) wake->notify_one();
    }
  }
}

}  // namespace lattice
