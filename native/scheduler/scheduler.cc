#include "native/scheduler/scheduler.h"

#include <algorithm>
#include <set>
#include <utility>

#include "native/base/thread_class.h"

namespace lattice {
namespace {

void Notify(std::condition_variable& work, size_t times) {
  for (size_t i = 0; i < times; ++i) work.notify_one();
}

}  // namespace

Scheduler::Scheduler(const SchedulerOptions& options, const ImagePipeline& pipeline,
                     const CrashMarker& marker, OnResult on_result)
    : options_(options),
      pipeline_(pipeline),
      marker_(marker),
      on_result_(std::move(on_result)),
      sync_lane_(options.sync, static_cast<size_t>(options.devices)),
      async_lane_(options.async, static_cast<size_t>(options.devices)),
      planner_(static_cast<size_t>(options.devices),
               {options.sync.parallel / options.devices, options.async.parallel / options.devices}),
      read_depth_(static_cast<size_t>(options.decode_threads),
                  static_cast<size_t>(options.ReadAhead())),
      read_ahead_(static_cast<size_t>(options.ReadAhead()), options.read_ahead_bytes),
      ahead_(static_cast<size_t>(options.LookAhead()), options.look_ahead_bytes) {
  for (const Lane lane : {Lane::kSync, Lane::kAsync}) {
    for (int i = 0; i < options.decode_threads; ++i) {
      threads_.emplace_back([this, lane, i] { DecodeLoop(lane, static_cast<size_t>(i)); });
    }
    for (int slot = 0; slot < StateOf(lane).options.slots; ++slot) {
      const auto place = static_cast<size_t>(slot % options.devices);
      threads_.emplace_back([this, lane, place] { InferLoop(lane, place); });
    }
  }
  deadline_thread_ = std::thread([this] { DeadlineLoop(); });
}

Scheduler::~Scheduler() { Close(); }

uint64_t Scheduler::Submit(std::vector<ImageTask> tasks) {
  const auto now = Clock::now();
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
    if (live->task.pixels) live->pixel_bytes = live->task.pixels->data.size();
    live_[live->task.id] = live;
    if (const Status refusal = Refusal(*live); !refusal.ok()) {
      refused.push_back(Answer(live, refusal));
    } else {
      AddDeadline(live);
      noops |= live->task.kind == TaskKind::kNoop;
      Enqueue(live);
    }
  }
  ReadAhead();
  const size_t sync = noops ? 1 : Decodable(Lane::kSync);  // one answers all no-ops
  const size_t async = Decodable(Lane::kAsync);
  lock.unlock();
  // No more threads than there is work for: a wake costs more than most of what surrounds it.
  const auto decoders = static_cast<size_t>(options_.decode_threads);
  Notify(sync_lane_.decode_work, std::min(sync, decoders));
  Notify(async_lane_.decode_work, std::min(async, decoders));
  Deliver(std::move(refused));
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
      if (live->stage < TaskStage::kDecoding) ++not_started;
      Withdraw(live);
      results.push_back(Answer(live, {StatusCode::kCancelled, "The task was cancelled."}));
    }
  }
  async_lane_.decode_work.notify_all();
  Deliver(std::move(results));
  return not_started;
}

SchedulerStats Scheduler::stats() const {
  const std::lock_guard lock(mutex_);
  SchedulerStats stats = counters_;
  stats.queued_sync = sync_lane_.waiting();
  stats.queued_async = async_lane_.waiting();
  stats.held_bytes = ahead_.bytes();
  stats.held_file_bytes = read_ahead_.bytes();
  return stats;
}

void Scheduler::Close() {
  std::vector<TaskResult> results;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    for (TaskQueue* queue : Queues()) {
      while (!queue->empty()) {
        const LiveTaskPtr live = queue->Pop();
        LeaveReadAhead(live);
        Hold(live, 0);
        results.push_back(Answer(live, {StatusCode::kShuttingDown, "The core is closing."}));
      }
    }
  }
  for (LaneState* lane : {&sync_lane_, &async_lane_}) {
    lane->decode_work.notify_all();
    for (std::condition_variable& work : lane->slice_work) work.notify_all();
  }
  deadline_work_.notify_all();
  Deliver(std::move(results));
  {
    std::unique_lock lock(mutex_);
    reads_over_.wait(lock, [this] { return sync_lane_.reading + async_lane_.reading == 0; });
  }
  const std::lock_guard joining(joining_);
  if (threads_.empty()) return;
  deadline_thread_.join();
  const std::set<std::thread::id> left = left_->Close();
  for (std::thread& thread : threads_) {
    if (left.contains(thread.get_id())) {
      thread.detach();
    } else {
      thread.join();
    }
  }
  threads_.clear();
}

// Wherever a task waits.
std::vector<TaskQueue*> Scheduler::Queues() {
  std::vector<TaskQueue*> queues;
  for (LaneState* lane : {&sync_lane_, &async_lane_}) {
    queues.insert(queues.end(), {&lane->unread, &lane->read, &lane->ready});
  }
  return queues;
}

size_t Scheduler::Decodable(Lane lane) const {
  if (lane == Lane::kSync) return sync_lane_.read.size();
  const TaskQueue& read = async_lane_.read;
  return read.empty() ? 0 : std::min(read.size(), ahead_.Room(read.front()->pixel_bytes));
}

LiveTaskPtr Scheduler::TakeForDecode(Lane lane) {
  LiveTaskPtr live = StateOf(lane).read.Pop();
  live->stage = TaskStage::kDecoding;
  live->result.times.queue = Milliseconds(Clock::now() - live->submitted) - live->read_ms;
  LeaveReadAhead(live);
  // A GPU that is out may still decode, but not run what it decoded.
  if (!AllDevicesAreIn(live->task.engine)) live->task.on_host = true;
  if (!live->sync()) {
    ahead_.AddImage();
    Hold(live, live->pixel_bytes);
  }
  ++counters_.decoding;
  return live;
}

void Scheduler::DecodeLoop(Lane lane, size_t /*thread*/) {
  const SignalStack signal_stack;
  const bool sync = lane == Lane::kSync;
  (void)NameThread("lattice-decode");
  // Where it is refused, async decoding competes on equal terms.
  if (!sync && options_.async_nice != 0) (void)LowerThread(options_.async_nice);
  LaneState& state = StateOf(lane);
  std::unique_lock lock(mutex_);
  while (true) {
    state.decode_work.wait(lock, [&] { return closing_ || Decodable(lane) > 0; });
    if (Decodable(lane) == 0) break;
    if (sync && state.read.front()->task.kind == TaskKind::kNoop) {
      AnswerNoops(lock);
      continue;
    }
    LiveTaskPtr live = TakeForDecode(lane);
    lock.unlock();
    const bool stays = Decode(live);
    live.reset();  // with its engine, if it was the last that used it: that takes long
    if (!stays) break;
    lock.lock();
  }
  if (lock.owns_lock()) lock.unlock();
  ImagePipeline::ReleaseThread();
}

// Called with the lock held, returns with it held. Takes all that lead the queue in one go, as a
// wake serves all.
void Scheduler::AnswerNoops(std::unique_lock<std::mutex>& lock) {
  std::vector<TaskResult> results;
  TaskQueue& read = sync_lane_.read;
  while (!read.empty() && read.front()->task.kind == TaskKind::kNoop) {
    results.push_back(Answer(read.Pop(), {}));
  }
  lock.unlock();
  Deliver(std::move(results));
  lock.lock();
}

// False as RunSlice.
bool Scheduler::Decode(const LiveTaskPtr& live) {
  Status status;
  {
    const CrashMarker::InHand in_hand(marker_, {&live->task.id, 1});
    auto opened = pipeline_.Open(live->task, std::move(live->file));
    status = opened.status();
    if (status.ok()) {
      if (!live->sync() && !Admit(live, &*opened)) return true;
      auto prepared = pipeline_.Prepare(live->task, *std::move(opened));
      status = prepared.status();
      if (status.ok()) live->prepared = *std::move(prepared);
    }
  }
  std::unique_lock lock(mutex_);
  --counters_.decoding;
  TaskResult& result = live->result;
  result.times.decode = live->read_ms + live->prepared.decode_ms;
  result.times.preprocess = live->prepared.preprocess_ms;
  result.width = live->prepared.width;
  result.height = live->prepared.height;
  if (!live->sync()) {
    ahead_.RemoveImage();
    const bool kept = status.ok() && !live->answered;
    Hold(live, kept ? live->prepared.input->pixel_bytes() : 0);
  }
  if (live->answered) return true;
  if (status.ok()) return GoOn(live, lock);
  TaskResult failure = Answer(live, std::move(status));
  lock.unlock();
  on_result_(std::move(failure));
  return true;
}

// Whether the image may be decoded now that its size is known. Else nobody has it in hand any more:
// it waits at its old place, and keeps those behind it from passing, or was answered meanwhile.
bool Scheduler::Admit(const LiveTaskPtr& live, OpenedImage* opened) {
  const size_t pixel_bytes = pipeline_.PixelBytes(live->task, *opened);
  const std::lock_guard lock(mutex_);
  live->pixel_bytes = pixel_bytes;
  Hold(live, 0);
  if (!live->answered && (closing_ || ahead_.Fits(pixel_bytes))) {
    Hold(live, pixel_bytes);
    return true;
  }
  --counters_.decoding;
  ahead_.RemoveImage();
  if (live->answered) return false;
  live->stage = TaskStage::kRead;
  live->file = std::move(opened->file);
  if (live->has_file()) EnterReadAhead(live);
  async_lane_.read.Push(live);
  return false;
}

// What the task holds of the look-ahead from now on.
void Scheduler::Hold(const LiveTaskPtr& live, size_t bytes) {
  if (bytes == live->held_bytes) return;
  const TaskQueue& read = async_lane_.read;
  const bool was_short = !read.empty() && !ahead_.Fits(read.front()->pixel_bytes);
  ahead_.Hold(bytes, &live->held_bytes);
  if (was_short && Decodable(Lane::kAsync) > 0) async_lane_.decode_work.notify_all();
}

// Takes the task out of the queue that it waits in, if it waits.
void Scheduler::Withdraw(const LiveTaskPtr& live) {
  if (live->stage == TaskStage::kUnread) {
    StateOf(live).unread.Erase(live);
  } else if (live->stage == TaskStage::kRead) {
    StateOf(live).read.Erase(live);
    live->file = {};
    LeaveReadAhead(live);
  } else if (live->stage == TaskStage::kReady) {
    StateOf(live).ready.Erase(live);
    live->prepared = {};
    Hold(live, 0);
    if (!live->sync()) ahead_.RemoveImage();
  }
}

void Scheduler::Deliver(std::vector<TaskResult> results) {
  for (TaskResult& result : results) on_result_(std::move(result));
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
    if (live->stage >= TaskStage::kDecoding) result.times = live->result.times;
  }
  result.status = std::move(status);
  result.total_ms = Milliseconds(Clock::now() - live->submitted);
  return result;
}

}  // namespace lattice
