// The part of the scheduler that runs batches: which images, and what came of them.
#include <algorithm>
#include <optional>
#include <utility>

#include "native/base/thread_class.h"
#include "native/scheduler/scheduler.h"

namespace lattice {
namespace {

// Parts of one async picture go into one batch, because a GPU copies the picture once for all parts
// of a batch. Parts of sync pictures take turns with other images, whose callers wait.
bool AreTogether(const LiveTask& a, const LiveTask& b) {
  return !a.sync() && a.whole != nullptr && a.whole == b.whole;
}

// Adds the ready parts that go with `first` to its batch, of `most` at most.
void AddParts(const LiveTask& first, size_t most, std::vector<LiveTaskPtr>* tasks) {
  if (!AreTogether(first, first)) return;
  for (const LiveTaskPtr& part : first.whole->split->parts) {
    if (tasks->size() == most) return;
    if (part.get() != &first && part->state == TaskState::kReady) tasks->push_back(part);
  }
}

}  // namespace

void Scheduler::BatchLoop(WorkClass work_class) {
  const SignalStack signal_stack;
  (void)NameThread("lattice-batch");
  while (true) {
    mutex_.Lock();
    ClassState& work = Of(work_class);
    while (!closing_ && work.Runnable() == 0) work.batch_work.Wait(mutex_);
    const bool over = closing_;
    const RunningBatchPtr batch = over ? nullptr : TakeBatch(work);
    Release();
    if (over) break;
    if (batch != nullptr) RunBatch(*batch);
  }
}

// The task that leads the class, with others that are ready for the same engine, to be run here.
// Null where no batch can begin: the thread that ends one looks again.
RunningBatchPtr Scheduler::TakeBatch(ClassState& work) {
  if (work.Runnable() == 0) return nullptr;
  std::vector<LiveTaskPtr> tasks;
  std::vector<LiveTaskPtr> late;
  size_t most = 0;
  for (const LiveTaskPtr& live : work.ready) {
    if (IsTooLate(*live)) {
      late.push_back(live);
      continue;
    }
    if (tasks.empty()) {
      tasks.push_back(live);
      most = static_cast<size_t>(live->task.engine->max_batch(live->task.work_class));
      AddParts(*live, most, &tasks);
    } else if (live->task.engine == tasks[0]->task.engine && !AreTogether(*live, *tasks[0])) {
      tasks.push_back(live);
    }
    if (tasks.size() == most) break;
  }
  for (const LiveTaskPtr& live : late) EndIfTooLate(Answered(live));
  std::erase_if(tasks, [](const LiveTaskPtr& live) { return live->answered; });
  if (tasks.empty()) return nullptr;
  const Engine& engine = *tasks[0]->task.engine;
  std::optional<SlotRange> wide;
  if (work.MayBeWide(tasks.size())) {
    wide = work.slots.Take(engine.wide_slots(tasks[0]->task.work_class));
  }
  const SlotRange slots = wide ? *wide : work.slots.Take(1).value();
  const auto now = Clock::now();
  for (const LiveTaskPtr& live : tasks) {
    Move(live, TaskState::kRunning);
    live->result.times.queue += Milliseconds(now - live->ready);
    live->result.batch = static_cast<int>(tasks.size());
  }
  return std::make_unique<RunningBatch>(std::move(tasks), slots,
                                        wide ? Width::kWide : Width::kOneShare, marker_);
}

// On the thread that decoded the task.
//
// The thread runs the batch itself where it can: waking another one takes as long as a tenth of a
// small network on a GPU. Not while an image waits for a thread, and on at most half of them, so
// that the others decode what comes meanwhile.
void Scheduler::RunOrQueue(const LiveTaskPtr& live) {
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
  if (batch != nullptr) RunBatch(*batch);
}

// Those of the best boxes, where the task asks for them.
std::vector<BoxDescriptor> Scheduler::DescriptorsOf(const LiveTask& live, const Detections& found) {
  std::vector<BoxDescriptor> descriptors;
  if (live.described == nullptr) return descriptors;
  for (const Detection& box : found.boxes) {
    if (descriptors.size() == kMostDescriptors || box.score <= *live.task.descriptors_above) break;
    descriptors.push_back(DescriptorOf(*live.described, box.x1, box.y1, box.x2, box.y2));
  }
  return descriptors;
}

void Scheduler::RunBatch(const RunningBatch& batch) {
  Stopwatch watch;
  const Status status =
      batch.engine->Run(batch.work_class, batch.slots.first, batch.width, batch.Items());
  const double inference_ms = watch.Lap();
  mutex_.Lock();
  LeaveNetwork(batch, status, inference_ms);
  Release();
  for (size_t i = 0; i < batch.tasks.size(); ++i) {
    const LiveTaskPtr& live = batch.tasks[i];
    Stopwatch post;
    Detections detections;
    if (status.ok()) detections = batch.engine->Detect(batch.work_class, batch.slots.first, i);
    std::vector<BoxDescriptor> descriptors = DescriptorsOf(*live, detections);
    live->input.reset();
    live->described.reset();
    // Not sooner: it wakes the thread of JavaScript, which would take a core from the network.
    live->task.sent.reset();
    const double postprocess_ms = post.Lap();
    mutex_.Lock();
    if (live->whole != nullptr) {
      EndPart(live, status, std::move(detections));
      continue;
    }
    live->result.detections = std::move(detections);
    live->result.descriptors = std::move(descriptors);
    live->result.times.inference = inference_ms;
    live->result.times.postprocess = postprocess_ms;
    if (!live->answered) End(live, status);
    Move(live, TaskState::kOutside);
    Release();
  }
  mutex_.Lock();
  Of(batch.work_class).slots.Give(batch.slots);
  if (batch.on_decode_thread) --batches_on_decode_threads_;
  Release();
}

void Scheduler::LeaveNetwork(const RunningBatch& batch, const Status& status, double inference_ms) {
  if (status.code() == StatusCode::kGpuLost) Lose(status);
  if (!status.ok() || batch.work_class != WorkClass::kSync) return;
  // About five batches forget a speed that was, and one counts for at most four times the mean.
  constexpr double kWeight = 0.2;
  constexpr double kMostChange = 4;
  const auto [mean, is_first] = sync_batch_ms_.try_emplace(batch.engine, inference_ms);
  const double counted = std::min(inference_ms, kMostChange * mean->second);
  mean->second += kWeight * (counted - mean->second);
  if (is_first)
    std::erase_if(sync_batch_ms_, [](const auto& each) { return each.first.expired(); });
}

// A sync task is too late when it has less time left than the network takes on average.
bool Scheduler::IsTooLate(const LiveTask& live) {
  if (!live.deadline) return false;
  const double left_ms = Milliseconds(*live.deadline - Clock::now());
  const auto mean = live.sync() ? sync_batch_ms_.find(live.task.engine) : sync_batch_ms_.end();
  return left_ms <= (mean == sync_batch_ms_.end() ? 0 : mean->second);
}

void Scheduler::EndIfTooLate(const LiveTaskPtr& live) {
  if (live->answered || !IsTooLate(*live)) return;
  // A network that was slow for a moment is measured again after some drops.
  constexpr double kForget = 0.9;
  const auto mean = live->sync() ? sync_batch_ms_.find(live->task.engine) : sync_batch_ms_.end();
  if (mean != sync_batch_ms_.end()) mean->second *= kForget;
  End(live, {StatusCode::kDeadlineExceeded, "Too little time was left to run the image."});
}

}  // namespace lattice
