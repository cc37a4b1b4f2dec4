// The part of the scheduler that runs slices: which images, on which device, and what came of it.
#include <algorithm>
#include <utility>

#include "native/base/thread_class.h"
#include "native/scheduler/scheduler.h"

namespace lattice {
namespace {

// Waiting images beyond these change nothing about the next slice.
constexpr size_t kMostScanned = 256;

double NowMs() { return Milliseconds(Clock::now().time_since_epoch()); }

size_t Ceil(size_t dividend, size_t divisor) { return (dividend + divisor - 1) / divisor; }

}  // namespace

// Whom to wake, without the lock, for the next slice of the lane; null when none can start now.
std::condition_variable* Scheduler::NextWake(Lane lane) {
  LaneState& state = StateOf(lane);
  if (state.ready.empty() || !planner_.HasFree(lane)) return nullptr;
  if (options_.devices == 1) return &state.slice_work[0];
  const auto chosen = Choose(lane);
  return chosen ? &state.slice_work[chosen->place] : nullptr;
}

// What leads the lane, with whatever else is ready for the same engine.
Slice Scheduler::FrontSlice(const LaneState& lane) const {
  Slice slice;
  const Engine* const engine = lane.ready.front()->task.engine.get();
  const auto most = static_cast<size_t>(engine->max_batch(lane.ready.front()->lane()));
  for (auto it = lane.ready.begin(); it != lane.ready.end() && slice.size() < most; ++it) {
    if ((*it)->task.engine.get() == engine) slice.push_back(*it);
  }
  return slice;
}

// The slices that would run if all could start now, in order. Idle devices share what there is. An
// image that a device was lost with runs alone, for it may be what the device was lost to.
std::vector<Slice> Scheduler::Slices(Lane lane) {
  struct Open {
    const Engine* engine;
    PlaceSet places;
    size_t slice;
  };
  const TaskQueue& ready = StateOf(lane).ready;
  std::vector<Slice> slices;
  std::vector<Open> open;
  size_t scanned = 0;
  for (auto it = ready.begin(); it != ready.end() && scanned < kMostScanned; ++it, ++scanned) {
    if ((*it)->losses > 0) {
      if (slices.size() == DevicePlanner::kLookAhead) break;
      slices.push_back({*it});
      continue;
    }
    const Engine* const engine = (*it)->task.engine.get();
    const PlaceSet places = PlacesFor(**it);
    const size_t share = Ceil(ready.size(), std::max<size_t>(planner_.Idle(lane, places), 1));
    const size_t most = std::min(share, static_cast<size_t>(engine->max_batch(lane)));
    auto to = std::find_if(open.begin(), open.end(), [&](const Open& each) {
      return each.engine == engine && each.places == places;
    });
    if (to == open.end()) to = open.insert(open.end(), {engine, places, slices.size()});
    if (to->slice == slices.size() || slices[to->slice].size() == most) {
      if (slices.size() == DevicePlanner::kLookAhead) break;
      to->slice = slices.size();
      slices.emplace_back();
    }
    slices[to->slice].push_back(*it);
  }
  return slices;
}

std::optional<ChosenSlice> Scheduler::Choose(Lane lane) {
  const TaskQueue& ready = StateOf(lane).ready;
  if (ready.empty() || !planner_.HasFree(lane)) return std::nullopt;
  if (options_.devices == 1) return ChosenSlice{FrontSlice(StateOf(lane)), 0};
  std::vector<Slice> slices = Slices(lane);
  std::vector<PlannedSlice> planned;
  for (const Slice& slice : slices) {
    SliceCosts* const costs = &models_.Of(slice[0]->task.engine).costs;
    planned.push_back({costs, slice.size(), PlacesFor(*slice[0])});
  }
  size_t more = 0;
  if (lane == Lane::kAsync) {
    const size_t coming = async_lane_.waiting() + ahead_.images() - ready.size();
    more = Ceil(coming, static_cast<size_t>(ready.front()->task.engine->max_batch(lane)));
  }
  const auto start = planner_.Choose(lane, planned, more, NowMs());
  if (!start) {
    ReviewSoon();
    return std::nullopt;
  }
  return ChosenSlice{std::move(slices[start->slice]), start->place};
}

// None when the next slice is not for `place`, whose thread is woken, or no slot is free: whoever
// gives one back looks again.
std::optional<ChosenSlice> Scheduler::TakeSlice(Lane lane, std::optional<size_t> place) {
  LaneState& state = StateOf(lane);
  auto chosen = Choose(lane);
  if (!chosen) return {};
  if (place && chosen->place != *place) {
    state.slice_work[chosen->place].notify_one();
    return {};
  }
  const auto slot = state.slots.Take(chosen->place);
  if (!slot) return {};
  chosen->slot = *slot;
  const auto now = Clock::now();
  for (const LiveTaskPtr& live : chosen->slice) {
    state.ready.Erase(live);
    live->stage = TaskStage::kInferring;
    live->result.times.queue += Milliseconds(now - live->ready);
    live->result.batch = static_cast<int>(chosen->slice.size());
    if (!live->sync()) ahead_.RemoveImage();
  }
  counters_.inferring += chosen->slice.size();
  return chosen;
}

void Scheduler::InferLoop(Lane lane, size_t place) {
  const SignalStack signal_stack;
  (void)NameThread("lattice-slice");
  std::unique_lock lock(mutex_);
  while (!closing_) {
    auto chosen = TakeSlice(lane, place);
    if (!chosen) {
      StateOf(lane).slice_work[place].wait(lock);
    } else if (!RunSlice(lane, *std::move(chosen), lock)) {
      return;
    }
  }
}

// On the thread that decoded the task. Called with the lock held, returns without. False as
// RunSlice.
//
// The thread runs the slice itself where it can: waking another one takes as long as a tenth of a
// small network on a GPU. Not while an image waits for a thread, and never on more than half of
// them, so that a device that hangs leaves some to the images of the others.
bool Scheduler::GoOn(const LiveTaskPtr& live, std::unique_lock<std::mutex>& lock) {
  const Lane lane = live->lane();
  int& running = sync_lane_.slices_of_decoders;
  std::vector<TaskResult> results;
  PutBack(live, &results);
  if (results.empty() && live->sync() && sync_lane_.read.empty() &&
      running < options_.decode_threads / 2) {
    if (auto chosen = TakeSlice(lane, std::nullopt)) {
      ++running;
      if (!RunSlice(lane, *std::move(chosen), lock)) return false;
      --running;
    }
  }
  std::condition_variable* const wake = NextWake(lane);
  lock.unlock();
  if (wake != nullptr) wake->notify_one();
  Deliver(std::move(results));
  return true;
}

// Called with the lock held, returns with it held. False, and without it, where the slice was given
// up and the scheduler closed meanwhile: then the thread must end and touch nothing of it.
bool Scheduler::RunSlice(Lane lane, ChosenSlice chosen, std::unique_lock<std::mutex>& lock) {
  const size_t number = chosen.slot;
  const int slot = static_cast<int>(number);
  RunningSlicePtr running = Begin(lane, std::move(chosen));
  const std::shared_ptr<LeftThreads> left = left_;
  std::condition_variable* wake = options_.devices > 1 ? NextWake(lane) : nullptr;
  const size_t more = lane == Lane::kAsync ? Decodable(lane) : 0;
  lock.unlock();
  if (wake != nullptr) wake->notify_one();
  const size_t count = running->slice.size();
  for (size_t i = std::min(more, count); i > 0; --i) async_lane_.decode_work.notify_one();

  Stopwatch watch;
  const Status status = running->engine->Run(lane, slot, running->Items());
  const double inference_ms = watch.Lap();
  if (!running->Claim()) {
    // Given up, its tasks are others' and its device is lost. Nobody needs the slot any more.
    if (!left->TakeBack(running->thread)) return false;
    running.reset();
    lock.lock();
    return true;
  }
  running->inputs.clear();  // back to the tasks alone

  std::vector<TaskResult> results;
  lock.lock();
  LeaveSlice(running, status, &results);
  wake = NextWake(lane);
  std::condition_variable* const other =
      options_.devices > 1 ? NextWake(lane == Lane::kSync ? Lane::kAsync : Lane::kSync) : nullptr;
  lock.unlock();
  if (wake != nullptr) wake->notify_one();
  if (other != nullptr) other->notify_one();
  Deliver(std::move(results));
  const bool again = status.code() == StatusCode::kGpuLost;
  for (size_t i = 0; i < count && !again; ++i) {
    const LiveTaskPtr& live = running->slice[i];
    Stopwatch post;
    Detections detections;
    if (status.ok()) detections = running->engine->Detect(lane, slot, i);
    Finish(live, status, std::move(detections), inference_ms, post.Lap());
  }
  // The last use of an unloaded engine frees it, which takes long.
  running.reset();
  lock.lock();
  StateOf(lane).slots.GiveBack(number);
  return true;
}

// A slice has left its device. Images of one that was lost meanwhile go back, or get their answer.
void Scheduler::LeaveSlice(const RunningSlicePtr& running, const Status& status,
                           std::vector<TaskResult>* results) {
  overdue_.End(running);
  if (closing_) deadline_work_.notify_one();
  planner_.End(running->planned, status.ok(), NowMs());
  if (status.ok()) models_.Of(running->engine).images[running->place] += running->slice.size();
  if (status.code() != StatusCode::kGpuLost) return;
  planner_.Lose(running->place);
  counters_.inferring -= running->slice.size();
  for (const LiveTaskPtr& live : running->slice) {
    if (live->answered) {
      live->prepared = {};
      Hold(live, 0);
    } else if (++live->losses > 1) {
      live->prepared = {};
      Hold(live, 0);
      results->push_back(Answer(live, status));
    } else {
      PutBack(live, results);
    }
  }
  Sweep(results);
}

void Scheduler::Finish(const LiveTaskPtr& live, const Status& status, Detections detections,
                       double inference_ms, double postprocess_ms) {
  live->prepared = {};
  std::unique_lock lock(mutex_);
  Hold(live, 0);
  live->result.detections = std::move(detections);
  live->result.times.inference = inference_ms;
  live->result.times.postprocess = postprocess_ms;
  --counters_.inferring;
  if (live->answered) return;
  TaskResult result = Answer(live, status);
  lock.unlock();
  on_result_(std::move(result));
}

}  // namespace lattice
