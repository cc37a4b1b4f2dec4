// The part of the scheduler that has files read before their images take a decode thread.
#include <utility>

#include "native/scheduler/scheduler.h"

namespace lattice {

// A task that nobody has in hand waits for its file, or to be decoded where it has none. The caller
// sees to what may be read ahead.
void Scheduler::Enqueue(const LiveTaskPtr& live) {
  LaneState& lane = StateOf(live);
  if (!live->has_file()) {
    live->stage = TaskStage::kRead;
    lane.read.Push(live);
  } else if (live->sync()) {
    StartRead(live);
  } else {
    live->stage = TaskStage::kUnread;
    lane.unread.Push(live);
  }
}

void Scheduler::ReadAhead() {
  TaskQueue& unread = async_lane_.unread;
  while (!closing_ && !unread.empty() && async_lane_.reading < read_depth_.depth() &&
         read_ahead_.Room(unread.front()->file_bytes) > 0) {
    const LiveTaskPtr live = unread.Pop();
    EnterReadAhead(live);
    StartRead(live);
  }
}

void Scheduler::StartRead(const LiveTaskPtr& live) {
  live->stage = TaskStage::kReading;
  live->asked_for_file = Clock::now();
  ++StateOf(live).reading;
  // Answered by a thread of the files, never by this one: it has the lock.
  pipeline_.ReadFile({live->task.path, [this, live](size_t bytes) { return MayTake(live, bytes); },
                      [this, live](Result<ByteBuffer> file) { OnRead(live, std::move(file)); }});
}

// The size of a file is known, its bytes are not in memory yet.
bool Scheduler::MayTake(const LiveTaskPtr& live, size_t file_bytes) {
  const std::lock_guard lock(mutex_);
  if (live->answered || closing_) return false;
  if (live->sync()) return true;
  live->file_bytes = file_bytes;
  read_ahead_.Hold(0, &live->held_file_bytes);
  live->put_off = !read_ahead_.Fits(file_bytes);
  if (!live->put_off) read_ahead_.Hold(file_bytes, &live->held_file_bytes);
  return !live->put_off;
}

void Scheduler::OnRead(const LiveTaskPtr& live, Result<ByteBuffer> file) {
  std::vector<TaskResult> results;
  std::unique_lock lock(mutex_);
  LaneState& lane = StateOf(live);
  const auto now = Clock::now();
  live->read_ms = Milliseconds(now - live->asked_for_file);
  if (!live->sync() && file.ok()) {
    const bool bound = lane.read.empty() && !lane.unread.empty();
    read_depth_.Came(bound && lane.reading >= read_depth_.depth(),
                     Milliseconds(now.time_since_epoch()));
  }
  if (live->answered) {
    LeaveReadAhead(live);
  } else if (closing_) {
    LeaveReadAhead(live);
    results.push_back(Answer(live, {StatusCode::kShuttingDown, "The core is closing."}));
  } else if (std::exchange(live->put_off, false)) {
    live->stage = TaskStage::kUnread;
    lane.unread.Push(live);
    LeaveReadAhead(live);
  } else if (file.ok()) {
    live->stage = TaskStage::kRead;
    live->file = *std::move(file);
    lane.read.Push(live);
    if (Decodable(live->lane()) > 0) lane.decode_work.notify_one();
  } else {
    LeaveReadAhead(live);
    results.push_back(Answer(live, file.status()));
  }
  if (!results.empty()) {
    lock.unlock();
    Deliver(std::move(results));
    lock.lock();
  }
  // The last that is done here: Close waits for it.
  --lane.reading;
  ReadAhead();
  if (closing_) reads_over_.notify_all();
}

void Scheduler::EnterReadAhead(const LiveTaskPtr& live) {
  live->read_ahead = true;
  read_ahead_.AddImage();
  read_ahead_.Hold(live->file_bytes, &live->held_file_bytes);
}

// Other files are read in its stead.
void Scheduler::LeaveReadAhead(const LiveTaskPtr& live) {
  if (!std::exchange(live->read_ahead, false)) return;
  read_ahead_.RemoveImage();
  read_ahead_.Hold(0, &live->held_file_bytes);
  ReadAhead();
}

}  // namespace lattice
