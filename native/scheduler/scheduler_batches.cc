// The part of the scheduler that runs batches: which images, and what came of them.
#include <algorithm>
#include <utility>

#include "native/base/thread_class.h"
#include "native/scheduler/scheduler.h"

namespace lattice {

void Scheduler::BatchLoop(WorkClass work_class) {
  const SignalStack signal_stack;
  (void)NameThread("lattice-batch");
  bool stays = true;
  while (stays) {
    mutex_.Lock();
    ClassState& work = Of(work_class);
    while (!closing_ && work.Runnable() == 0) work.batch_work.Wait(mutex_);
    const bool over = closing_;
    RunningBatchPtr batch = over ? nullptr : TakeBatch(work);
    Release();
    if (over) break;
    if (batch != nullptr) stays = RunBatch(batch);
  }
}

// What leads the class, with what else is ready for the same engine, for the calling thread to run.
// Null where no batch can begin: the thread that ends one looks again.
RunningBatchPtr Scheduler::TakeBatch(ClassState& work) {
  if (work.Runnable() == 0) return nullptr;
  std::vector<LiveTaskPtr> tasks;
  std::vector<LiveTaskPtr> late;
  for (const LiveTaskPtr& live : work.ready) {
    if (IsTooLate(*live)) {
      late.push_back(live);
      continue;
    }
    const Engine* const engine = tasks.empty() ? nullptr : tasks[0]->task.engine.get();
    if (engine != nullptr && live->task.engine.get() != engine) continue;
    tasks.push_back(live);
    const Engine& same = *live->task.engine;
    if (tasks.size() == static_cast<size_t>(same.max_batch(live->task.work_class))) break;
  }
  for (const LiveTaskPtr& live : late) EndIfTooLate(live);
  if (tasks.empty()) return nullptr;
  const Width width = work.WidthFor(tasks.size());
  const auto now = Clock::now();
  for (const LiveTaskPtr& live : tasks) {
    Move(live, TaskState::kRunning);
    live->result.times.queue += Milliseconds(now - live->ready);
    live->result.batch = static_cast<int>(tasks.size());
  }
  work.running += work.Shares(width);
  auto batch =
      std::make_shared<RunningBatch>(std::move(tasks), work.free_slots.back(), width, marker_);
  work.free_slots.pop_back();
  running_.push_back(batch);
  Watch(*batch);
  return batch;
}

// On the thread that decoded the task. False as RunBatch.
//
// The thread runs the batch itself where it can: waking another one takes as long as a tenth of a
// small network on a GPU. Not while an image waits for a thread, and on at most half of them, so
// that the others decode what comes meanwhile.
bool Scheduler::RunOrQueue(const LiveTaskPtr& live) {
  live->ready = Clock::now();
  Move(live, TaskState::kReady);
  RunningBatchPtr batch;
  if (live->sync() && sync_.read.empty() &&
      batches_on_decode_threads_ < options_.decode_threads / 2) {
    batch = TakeBatch(sync_);
  }
  if (batch != nullptr) {
    batch->on_decode_thread = true;
    ++batches_on_decode_threads_;
  }
  Release();
  return batch == nullptr || RunBatch(batch);
}

// False where Close did not wait for the engine's call: then the thread ends and uses nothing of
// the scheduler.
bool Scheduler::RunBatch(const RunningBatchPtr& batch) {
  Stopwatch watch;
  const Status status =
      batch->engine->Run(batch->work_class, batch->slot, batch->width, batch->Items());
  const double inference_ms = watch.Lap();
  if (!batch->Claim()) return false;
  batch->inputs.clear();  // each task has its own
  mutex_.Lock();
  LeaveNetwork(batch, status, inference_ms);
  Release();
  for (size_t i = 0; i < batch->tasks.size(); ++i) {
    const LiveTaskPtr& live = batch->tasks[i];
    Stopwatch post;
    Detections detections;
    if (status.ok()) detections = batch->engine->Detect(batch->work_class, batch->slot, i);
    live->prepared = {};
    const double postprocess_ms = post.Lap();
    mutex_.Lock();
    live->result.detections = std::move(detections);
    live->result.times.inference = inference_ms;
    live->result.times.postprocess = postprocess_ms;
    if (!live->answered) End(live, status);
    Move(live, TaskState::kOutside);
    Release();
  }
  mutex_.Lock();
  Of(batch->work_class).free_slots.push_back(batch->slot);
  if (batch->on_decode_thread) --batches_on_decode_threads_;
  Release();
  return true;
}

void Scheduler::LeaveNetwork(const RunningBatchPtr& batch, const Status& status,
                             double inference_ms) {
  ClassState& work = Of(batch->work_class);
  work.running -= work.Shares(batch->width);
  std::erase(running_, batch);
  if (closing_) {
    in_hand_work_.NotifyAll();
    deadline_work_.NotifyOne();
  }
  if (status.code() == StatusCode::kGpuLost) Lose(status);
  if (!status.ok() || batch->work_class != WorkClass::kSync) return;
  // About five batches forget a speed that was, and one counts for at most four times the mean.
  constexpr double kWeight = 0.2;
  constexpr double kMostChange = 4;
  const auto [mean, is_first] = sync_batch_ms_.try_emplace(batch->engine, inference_ms);
  const double counted = std::min(inference_ms, kMostChange * mean->second);
  mean->second += kWeight * (counted - mean->second);
  if (is_first)
    std::erase_if(sync_batch_ms_, [](const auto& each) { return each.first.expired(); });
}

}  // namespace lattice
