#include "native/scheduler/scheduler.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace lattice {

Scheduler::Scheduler(const SchedulerOptions& options, const ImagePipeline& pipeline,
                     const CrashMarker& marker, OnResult on_result)
    : options_(options),
      look_ahead_(static_cast<size_t>(2 * options.parallel + options.decode_threads)),
      pipeline_(pipeline),
      marker_(marker),
      on_result_(std::move(on_result)) {
  for (int i = 0; i < options.decode_threads; ++i) {
    threads_.emplace_back([this] { DecodeLoop(true); });
    threads_.emplace_back([this] { DecodeLoop(false); });
  }
  for (int slot = 0; slot < SlotsFor(options.parallel); ++slot) {
    threads_.emplace_back([this, slot] { InferLoop(slot); });
  }
  threads_.emplace_back([this] { DeadlineLoop(); });
}

Scheduler::~Scheduler() { Close(); }

uint64_t Scheduler::Submit(std::vector<ImageTask> tasks) {
  const auto now = Clock::now();
  size_t sync = 0;
  bool noops = false;
  std::unique_lock lock(mutex_);
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (!live_.try_emplace(tasks[i].id).second) {
      const uint64_t duplicate = tasks[i].id;
      while (i-- > 0) live_.erase(tasks[i].id);
      return duplicate;
    }
  }
  std::vector<TaskResult> refused;
  for (ImageTask& task : tasks) {
    auto live = std::make_shared<LiveTask>();
    live->result.id = task.id;
    live->task = std::move(task);
    live->sequence = next_sequence_++;
    live->submitted = now;
    live_[live->task.id] = live;
    if (closing_) {
      refused.push_back(Answer(live, {StatusCode::kShuttingDown, "The core is closed."}));
    } else if (live->task.kind != TaskKind::kNoop && live->task.engine == nullptr) {
      refused.push_back(Answer(live, {StatusCode::kUnknownModel, "The model is not loaded."}));
    } else {
      AddDeadline(live);
      if (live->task.kind == TaskKind::kSync) ++sync;
      noops |= live->task.kind == TaskKind::kNoop;
      (live->sync() ? sync_queue_ : async_queue_).Push(std::move(live));
    }
  }
  const bool async = CanDecode(false);
  lock.unlock();
  if (sync + (noops ? 1 : 0) == 1) sync_work_.notify_one();  // one thread answers all no-ops
  if (sync + (noops ? 1 : 0) > 1) sync_work_.notify_all();
  if (async) async_work_.notify_all();
  for (TaskResult& result : refused) on_result_(std::move(result));
  return 0;
}

size_t Scheduler::Cancel(std::span<const uint64_t> ids) {
  size_t not_started = 0;
  std::vector<TaskResult> results;
  {
    const std::lock_guard lock(mutex_);
    for (const uint64_t id : ids) {
      const auto found = live_.find(id);
      if (found == live_.end()) continue;
      const LiveTaskPtr live = found->second;
      if (live->stage == TaskStage::kQueued) ++not_started;
      Withdraw(live);
      results.push_back(Answer(live, {StatusCode::kCancelled, "The task was cancelled."}));
    }
  }
  async_work_.notify_all();
  for (TaskResult& result : results) on_result_(std::move(result));
  return not_started;
}

SchedulerStats Scheduler::stats() const {
  const std::lock_guard lock(mutex_);
  SchedulerStats stats = counters_;
  stats.queued_sync = sync_queue_.size();
  stats.queued_async = async_queue_.size();
  return stats;
}

void Scheduler::Close() {
  std::vector<TaskResult> results;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    for (TaskQueue* queue : {&sync_queue_, &async_queue_, &ready_}) {
      while (!queue->empty()) {
        results.push_back(
            Answer(queue->Pop(), {StatusCode::kShuttingDown, "The core is closing."}));
      }
    }
  }
  sync_work_.notify_all();
  async_work_.notify_all();
  slice_work_.notify_all();
  deadline_work_.notify_all();
  for (TaskResult& result : results) on_result_(std::move(result));
  const std::lock_guard joining(joining_);
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

bool Scheduler::CanDecode(bool sync) const {
  return sync ? !sync_queue_.empty() : !async_queue_.empty() && async_ahead_ < look_ahead_;
}

LiveTaskPtr Scheduler::TakeForDecode(bool sync) {
  LiveTaskPtr live = (sync ? sync_queue_ : async_queue_).Pop();
  live->stage = TaskStage::kDecoding;
  live->result.times.queue = Milliseconds(Clock::now() - live->submitted);
  if (!sync) ++async_ahead_;
  ++counters_.decoding;
  return live;
}

void Scheduler::DecodeLoop(bool sync) {
  const SignalStack signal_stack;
  if (!sync && options_.async_nice != 0) {
    // Best effort: where it is refused, async decoding competes on equal terms.
    const auto thread = static_cast<id_t>(syscall(SYS_gettid));
    const int nice = getpriority(PRIO_PROCESS, thread) + options_.async_nice;
    (void)setpriority(PRIO_PROCESS, thread, nice);
  }
  std::condition_variable& work = sync ? sync_work_ : async_work_;
  std::unique_lock lock(mutex_);
  while (true) {
    work.wait(lock, [&] { return closing_ || CanDecode(sync); });
    if (!CanDecode(sync)) break;
    if (sync && sync_queue_.front()->task.kind == TaskKind::kNoop) {
      AnswerNoops(lock);
      continue;
    }
    const LiveTaskPtr live = TakeForDecode(sync);
    lock.unlock();
    Decode(live);
    lock.lock();
  }
  lock.unlock();
  ImagePipeline::ReleaseThread();
}

// Called with the lock held, returns with it held. Takes all that lead the queue in one go, as a
// wake serves all.
void Scheduler::AnswerNoops(std::unique_lock<std::mutex>& lock) {
  std::vector<TaskResult> results;
  while (!sync_queue_.empty() && sync_queue_.front()->task.kind == TaskKind::kNoop) {
    results.push_back(Answer(sync_queue_.Pop(), {}));
  }
  lock.unlock();
  for (TaskResult& result : results) on_result_(std::move(result));
  lock.lock();
}

void Scheduler::Decode(const LiveTaskPtr& live) {
  Status status;
  {
    const CrashMarker::InHand in_hand(marker_, {&live->task.id, 1});
    auto prepared = pipeline_.Prepare(live->task);
    status = prepared.status();
    if (status.ok()) live->prepared = *std::move(prepared);
  }
  std::unique_lock lock(mutex_);
  --counters_.decoding;
  TaskResult& result = live->result;
  result.times.decode = live->prepared.decode_ms;
  result.times.preprocess = live->prepared.preprocess_ms;
  result.width = live->prepared.transform.source_width;
  result.height = live->prepared.transform.source_height;
  const bool go_on = status.ok() && !live->answered;
  if (go_on && !closing_) {
    live->stage = TaskStage::kReady;
    live->ready = Clock::now();
    ready_.Push(live);
    const bool free_slot = running_slices_ < options_.parallel;
    lock.unlock();
    if (free_slot) slice_work_.notify_one();
    return;
  }
  if (go_on) status = {StatusCode::kShuttingDown, "The core is closing."};
  if (!live->sync()) --async_ahead_;
  if (live->answered) return;
  TaskResult answer = Answer(live, std::move(status));
  lock.unlock();
  on_result_(std::move(answer));
}

std::vector<LiveTaskPtr> Scheduler::TakeSlice() {
  std::vector<LiveTaskPtr> slice{ready_.Pop()};
  const Engine* engine = slice[0]->task.engine.get();
  const auto most = static_cast<size_t>(engine->max_batch());
  while (slice.size() < most) {
    LiveTaskPtr next = ready_.PopFor(engine);
    if (next == nullptr) break;
    slice.push_back(std::move(next));
  }
  const auto now = Clock::now();
  for (const LiveTaskPtr& live : slice) {
    live->stage = TaskStage::kInferring;
    live->result.times.queue += Milliseconds(now - live->ready);
    live->result.batch = static_cast<int>(slice.size());
    if (!live->sync()) --async_ahead_;
  }
  counters_.inferring += slice.size();
  return slice;
}

void Scheduler::InferLoop(int slot) {
  const SignalStack signal_stack;
  std::unique_lock lock(mutex_);
  while (true) {
    slice_work_.wait(lock, [this] {
      return closing_ || (!ready_.empty() && running_slices_ < options_.parallel);
    });
    if (closing_) return;
    RunSlice(slot, lock);
  }
}

// Called with the lock held, returns with it held.
void Scheduler::RunSlice(int slot, std::unique_lock<std::mutex>& lock) {
  const std::vector<LiveTaskPtr> slice = TakeSlice();
  ++running_slices_;
  const bool more = CanDecode(false);
  lock.unlock();
  if (more && slice.size() == 1) async_work_.notify_one();
  if (more && slice.size() > 1) async_work_.notify_all();

  const std::shared_ptr<Engine> engine = slice[0]->task.engine;
  std::vector<PreparedImage*> images;
  std::vector<uint64_t> ids;
  for (const LiveTaskPtr& live : slice) {
    images.push_back(&live->prepared);
    ids.push_back(live->task.id);
  }
  const CrashMarker::InHand in_hand(marker_, ids);
  Stopwatch watch;
  const Status status = ImagePipeline::Infer(*engine, slot, images);
  const double inference_ms = watch.Lap();

  lock.lock();
  --running_slices_;
  const bool next = !ready_.empty();
  lock.unlock();
  if (next) slice_work_.notify_one();

  for (const LiveTaskPtr& live : slice) {
    Stopwatch post;
    Detections detections;
    if (status.ok()) {
      detections = ImagePipeline::Postprocess(engine->info(), live->prepared, live->task.options);
    }
    live->prepared = {};
    lock.lock();
    live->result.detections = std::move(detections);
    live->result.times.inference = inference_ms;
    live->result.times.postprocess = post.Lap();
    --counters_.inferring;
    const bool answer = !live->answered;
    TaskResult result = answer ? Answer(live, status) : TaskResult{};
    lock.unlock();
    if (answer) on_result_(std::move(result));
  }
  lock.lock();
}

// Takes the task out of the queue that it waits in, if it waits.
void Scheduler::Withdraw(const LiveTaskPtr& live) {
  if (live->stage == TaskStage::kQueued) {
    (live->sync() ? sync_queue_ : async_queue_).Erase(live);
  } else if (live->stage == TaskStage::kReady) {
    ready_.Erase(live);
    live->prepared = {};
    if (!live->sync()) --async_ahead_;
  }
}

// Ends the task's life; the caller hands the result on after it has let go of the lock.
TaskResult Scheduler::Answer(const LiveTaskPtr& live, Status status) {
  live->answered = true;
  if (live->deadline) deadlines_.erase(*live->deadline);
  live->deadline.reset();
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
  // A task that is still being worked on keeps its own record; the answer is a copy without boxes.
  TaskResult result;
  if (live->stage == TaskStage::kInferring && status.ok()) {
    result = std::move(live->result);
  } else {
    result.id = live->task.id;
    result.times.queue = Milliseconds(Clock::now() - live->submitted);
    if (live->stage != TaskStage::kQueued) result.times = live->result.times;
  }
  result.status = std::move(status);
  result.total_ms = Milliseconds(Clock::now() - live->submitted);
  return result;
}

}  // namespace lattice
