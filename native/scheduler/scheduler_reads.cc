// The part of the scheduler that has files read before their images take a decode thread.
#include <string>
#include <string_view>
#include <utility>

#include "native/base/sha256.h"
#include "native/scheduler/scheduler.h"

namespace lattice {
namespace {

std::string_view TextOf(const ByteBuffer& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

// A new task waits for its file, or to be decoded where it has none.
void Scheduler::Enqueue(const LiveTaskPtr& live) {
  if (!live->has_file()) {
    Move(live, TaskState::kRead);
  } else if (live->sync()) {
    StartRead(live);
  } else {
    Move(live, TaskState::kUnread);
  }
}

void Scheduler::ReadAhead() {
  const TaskQueue& unread = async_.unread;
  while (!unread.empty() && async_.reading < read_depth_.depth() &&
         async_.files.Available(unread.front()->file_bytes) > 0) {
    StartRead(LiveTaskPtr(unread.front()));
  }
}

void Scheduler::StartRead(const LiveTaskPtr& live) {
  live->put_off = false;
  live->read_began = Clock::now();
  ++open_reads_;
  Move(live, TaskState::kReading);
  // Answered by a thread of the files, never by this one, which has the lock.
  files_.Read({live->task.path, [this, live](size_t bytes) { return MayRead(live, bytes); },
               [this, live](Result<FileContent> file) { OnRead(live, std::move(file)); }});
}

// The size of a file is known, its bytes are not in memory yet.
bool Scheduler::MayRead(const LiveTaskPtr& live, size_t file_bytes) {
  const MutexLock lock(mutex_);
  if (live->answered || closing_) return false;
  Count(live, false);
  live->file_bytes = file_bytes;
  live->put_off = !Of(*live).files.Fits(file_bytes);
  Count(live, true);
  return !live->put_off;
}

void Scheduler::OnRead(const LiveTaskPtr& live, Result<FileContent> file) {
  std::string sha256;  // here, where many threads are, and without the lock
  if (live->task.digest && file.ok()) sha256 = Sha256(TextOf(file->bytes));
  mutex_.Lock();
  ClassState& work = Of(*live);
  const auto now = Clock::now();
  live->read_ms = Milliseconds(now - live->read_began);
  if (!live->sync() && file.ok()) {
    const bool bound = work.read.empty() && !work.unread.empty();
    read_depth_.Came(bound && work.reading >= read_depth_.depth(),
                     Milliseconds(now.time_since_epoch()));
  }
  if (live->answered) {
    Move(live, TaskState::kOutside);
  } else if (closing_) {
    End(live, {StatusCode::kShuttingDown, "The core is closing."});
    Move(live, TaskState::kOutside);
  } else if (live->put_off) {
    Move(live, TaskState::kUnread);
  } else if (file.ok()) {
    live->result.file = {file->stamp, file->read_ns, std::move(sha256)};
    live->file = std::move(file->bytes);
    Move(live, TaskState::kRead);
  } else {
    End(live, file.status());
    Move(live, TaskState::kOutside);
  }
  Release();
  // The last access of this thread: Close waits for it.
  const MutexLock lock(mutex_);
  --open_reads_;
  if (closing_) read_ended_.NotifyAll();
}

}  // namespace lattice
