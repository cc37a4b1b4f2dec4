#include "native/scheduler/scheduler.h"

#include <algorithm>
#include <utility>

namespace lattice {
namespace {

// The increase since threads were last woken for it.
size_t More(size_t now, size_t* told) {
  const size_t before = std::exchange(*told, now);
  return now - std::min(now, before);
}

void Notify(Condition& work, size_t times) {
  for (size_t i = 0; i < times; ++i) work.NotifyOne();
}

}  // namespace

Scheduler::Scheduler(const SchedulerOptions& options, const FileReader& files,
                     const CrashMarker& marker, OnResult on_result, OnDeviceLost on_device_lost)
    : options_(options),
      files_(files),
      marker_(marker),
      on_result_(std::move(on_result)),
      on_device_lost_(std::move(on_device_lost)),
      sync_(options.sync, {LookAhead::kUnlimited, LookAhead::kUnlimited},
            {static_cast<size_t>(options.SyncAhead()), options.sync_pixel_bytes}),
      async_(options.async, {static_cast<size_t>(options.ReadAhead()), options.async_file_bytes},
             {static_cast<size_t>(options.AsyncAhead()), options.async_pixel_bytes}),
      read_depth_(static_cast<size_t>(options.decode_threads),
                  static_cast<size_t>(options.ReadAhead())) {
  for (const WorkClass work_class : {WorkClass::kSync, WorkClass::kAsync}) {
    const int slots = (work_class == WorkClass::kSync ? options.sync : options.async).slots;
    for (int i = 0; i < options.decode_threads; ++i) {
      threads_.emplace_back([this, work_class] { DecodeLoop(work_class); });
    }
    for (int i = 0; i < slots; ++i) {
      threads_.emplace_back([this, work_class] { BatchLoop(work_class); });
    }
  }
}

Scheduler::~Scheduler() { Close(); }

uint64_t Scheduler::Submit(std::vector<ImageTask> tasks) {
  const auto now = Clock::now();
  mutex_.Lock();
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (!live_.try_emplace(tasks[i].id).second) {
      const uint64_t duplicate = tasks[i].id;
      while (i-- > 0) live_.erase(tasks[i].id);
      mutex_.Unlock();
      return duplicate;
    }
  }
  for (ImageTask& task : tasks) {
    auto live = std::make_shared<LiveTask>();
    live->result.id = task.id;
    live->task = std::move(task);
    live->sequence = next_sequence_++;
    live->submitted = now;
    if (live->task.deadline_ms > 0) {
      const std::chrono::duration<double, std::milli> wait(live->task.deadline_ms);
      live->deadline = now + std::chrono::duration_cast<Clock::duration>(wait);
    }
    if (live->task.pixels) live->pixel_bytes = live->task.pixels->data.size();
    live_[live->task.id] = live;
    if (const Status refusal = Refusal(live->task); !refusal.ok()) {
      End(live, refusal);
    } else {
      Enqueue(live);
    }
  }
  Release();
  return 0;
}

Status Scheduler::Refusal(const ImageTask& task) const {
  if (closing_) return {StatusCode::kShuttingDown, "The core is closed."};
  if (task.engine == nullptr) return {StatusCode::kUnknownModel, "The model is not loaded."};
  return lost_;
}

size_t Scheduler::Cancel(std::span<const uint64_t> ids) {
  size_t not_started = 0;
  mutex_.Lock();
  for (const uint64_t id : ids) {
    const auto found = live_.find(id);
    if (found == live_.end()) continue;
    const LiveTaskPtr live = found->second;
    if (live->state < TaskState::kDecoding) ++not_started;
    End(live, {StatusCode::kCancelled, "The task was cancelled."});
  }
  Release();
  return not_started;
}

void Scheduler::LoseDevice(const Status& status) {
  mutex_.Lock();
  Lose(status);
  Release();
}

// Does nothing after the first time.
void Scheduler::Lose(const Status& status) {
  if (!lost_.ok()) return;
  lost_ = status;
  // The process ends: an image that makes the device fault must not do so at every start.
  CrashMarker::WriteAll();
  outbox_.device_lost = true;
  std::vector<LiveTaskPtr> live;
  for (const auto& [id, each] : live_) live.push_back(each);
  for (const LiveTaskPtr& each : live) End(each, status);
}

SchedulerStats Scheduler::stats() const {
  const MutexLock lock(mutex_);
  SchedulerStats stats = counters_;
  stats.queued_sync = sync_.waiting();
  stats.queued_async = async_.waiting();
  stats.held_bytes = async_.pixels.bytes();
  stats.held_file_bytes = async_.files.bytes();
  return stats;
}

void Scheduler::Close() {
  mutex_.Lock();
  closing_ = true;
  for (ClassState* work : {&sync_, &async_}) {
    for (TaskQueue* queue : {&work->unread, &work->read, &work->ready}) {
      while (!queue->empty()) {
        const LiveTaskPtr live = Answered(queue->front());
        End(live, {StatusCode::kShuttingDown, "The core is closing."});
      }
    }
    work->decode_work.NotifyAll();
    work->batch_work.NotifyAll();
  }
  Release();

  mutex_.Lock();
  while (open_reads_ > 0) read_ended_.Wait(mutex_);
  mutex_.Unlock();

  const std::lock_guard joining(joining_);
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

// Ends a stretch of work under the lock: begins the reads that there is capacity for, unlocks,
// wakes threads for what can be done since then and delivers the answers.
//
// No more threads are woken than there is new work for: a wake costs more than most of what
// surrounds it.
void Scheduler::Release() {
  ReadAhead();
  size_t decodable[2];
  size_t runnable[2];
  ClassState* const classes[2] = {&sync_, &async_};
  for (size_t i = 0; i < 2; ++i) {
    decodable[i] = More(classes[i]->Decodable(), &classes[i]->told_decodable);
    runnable[i] = More(classes[i]->Runnable(), &classes[i]->told_runnable);
  }
  Outbox outbox = std::exchange(outbox_, {});
  const Status lost = outbox.device_lost ? lost_ : Status();
  mutex_.Unlock();
  for (size_t i = 0; i < 2; ++i) {
    Notify(classes[i]->decode_work,
           std::min(decodable[i], static_cast<size_t>(options_.decode_threads)));
    Notify(classes[i]->batch_work, runnable[i]);
  }
  if (outbox.device_lost && on_device_lost_) on_device_lost_(lost);
  for (Outbox::Answer& answer : outbox.answers) on_result_(std::move(answer.result));
}

void Scheduler::Move(const LiveTaskPtr& live, TaskState to) {
  Count(live, false);
  live->state = to;
  Count(live, true);
}

// Adds or removes what a task counts for in its state: its place in a queue, images and bytes. All
// of that happens here.
void Scheduler::Count(const LiveTaskPtr& live, bool in) {
  ClassState& work = Of(*live);
  switch (live->state) {
    case TaskState::kOutside:
      return;
    case TaskState::kUnread:
      work.unread.Set(live, in);
      return;
    case TaskState::kReading:
      work.reading = in ? work.reading + 1 : work.reading - 1;
      work.files.Set(1, live->put_off ? 0 : live->file_bytes, in);
      return;
    case TaskState::kRead:
      work.read.Set(live, in);
      if (live->has_file()) work.files.Set(1, live->file_bytes, in);
      return;
    case TaskState::kDecoding:
      counters_.decoding = in ? counters_.decoding + 1 : counters_.decoding - 1;
      work.pixels.Set(1, live->pixel_bytes, in);
      return;
    case TaskState::kReady:
      work.ready.Set(live, in);
      // Parts are no images ahead: others are decoded meanwhile and take their turn among them.
      work.pixels.Set(live->whole == nullptr ? 1 : 0, live->pixel_bytes, in);
      return;
    case TaskState::kRunning:
      counters_.inferring = in ? counters_.inferring + 1 : counters_.inferring - 1;
      work.pixels.Set(0, live->pixel_bytes, in);
      return;
    case TaskState::kSplit:
      work.pixels.Set(1, live->pixel_bytes, in);  // those that its parts share
      return;
  }
}

void Scheduler::SetPixelBytes(const LiveTaskPtr& live, size_t bytes) {
  Count(live, false);
  live->pixel_bytes = bytes;
  Count(live, true);
}

// Answers a task, once. One that waits leaves its queue; the thread that has one in hand moves it.
void Scheduler::End(const LiveTaskPtr& live, Status status) {
  live->answered = true;
  live_.erase(live->task.id);
  switch (status.code()) {
    case StatusCode::kOk:
      ++counters_.completed;
      break;
    case StatusCode::kCancelled:
      ++counters_.cancelled;
      break;
    default:
      ++counters_.failed;
  }
  // A task in hand keeps its own record; the answer is a copy without boxes.
  TaskResult result;
  const bool ran = live->state == TaskState::kRunning || live->state == TaskState::kSplit;
  if (ran && status.ok()) {
    result = std::move(live->result);
  } else {
    result.id = live->task.id;
    result.file = live->result.file;
    result.times.queue = Milliseconds(Clock::now() - live->submitted);
    if (live->state >= TaskState::kDecoding) result.times = live->result.times;
  }
  result.status = std::move(status);
  result.total_ms = Milliseconds(Clock::now() - live->submitted);
  outbox_.answers.push_back({std::move(result), live});
  if (live->split != nullptr) DropParts(live);
  if (live->state == TaskState::kUnread || live->state == TaskState::kRead ||
      live->state == TaskState::kReady) {
    live->file = {};
    live->input.reset();
    Move(live, TaskState::kOutside);
  }
}

}  // namespace lattice
