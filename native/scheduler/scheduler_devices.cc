// The part of the scheduler that knows devices: which ones a task may take, and what becomes of its
// way when one goes.
#include <bit>
#include <utility>

#include "native/scheduler/scheduler.h"

namespace lattice {
namespace {

Status Lost() {
  return {StatusCode::kGpuLost,
          "Every GPU that could run it faulted or hangs and is lost to this process. Restart the "
          "service."};
}

}  // namespace

// Ok when the task can be taken.
Status Scheduler::Refusal(const LiveTask& live) {
  if (closing_) return {StatusCode::kShuttingDown, "The core is closed."};
  if (live.task.kind == TaskKind::kNoop) return {};
  if (live.task.engine == nullptr) return {StatusCode::kUnknownModel, "The model is not loaded."};
  const int device = live.task.device;
  if (device >= 0 && models_.Of(live.task.engine).At(device) == 0) {
    return {StatusCode::kGpuUnavailable, "There is no device " + std::to_string(device) + "."};
  }
  return PlacesFor(live) != 0 ? Status() : Lost();
}

// Where the task may run as it is; none when it must be decoded anew or has no device left.
PlaceSet Scheduler::PlacesFor(const LiveTask& live) {
  const ModelDevices& model = models_.Of(live.task.engine);
  PlaceSet places = planner_.left();
  if (live.task.device >= 0) {
    places &= model.At(live.task.device);
  } else if ((places & ~model.failed) != 0) {
    places &= ~model.failed;
  }
  const EngineInput* const input = live.prepared.input.get();
  if (input != nullptr && input->gpu() >= 0) places &= model.At(input->gpu());
  return places;
}

bool Scheduler::AllDevicesAreIn(const std::shared_ptr<Engine>& engine) {
  if (options_.devices == 1) return true;
  const ModelDevices& model = models_.Of(engine);
  return model.failed == 0 && std::popcount(planner_.left()) == options_.devices;
}

// A task that nobody has in hand goes on: to the network, or to be decoded where its pixels cannot
// be used. Keeps its place in the order.
void Scheduler::PutBack(const LiveTaskPtr& live, std::vector<TaskResult>* results) {
  if (closing_) {
    live->prepared = {};
    Hold(live, 0);
    results->push_back(Answer(live, {StatusCode::kShuttingDown, "The core is closing."}));
    return;
  }
  if (PlacesFor(*live) != 0) {
    live->stage = TaskStage::kReady;
    live->ready = Clock::now();
    if (!live->sync()) ahead_.AddImage();
    StateOf(live->lane()).ready.Push(live);
    return;
  }
  live->prepared = {};
  Hold(live, 0);
  // Each time that an image was decoded in vain counts, or it might be for ever. Pixels that came
  // with the task are used up.
  if (PlacesFor(*live) == 0 || live->task.path.empty() || ++live->decoded_in_vain > 1) {
    results->push_back(Answer(live, Lost()));
    return;
  }
  // Another GPU's decoder might bind it to one that is not for it either.
  live->task.on_host = true;
  Enqueue(live);
  ReadAhead();
}

// Finds what waits for a device that is gone.
void Scheduler::Sweep(std::vector<TaskResult>* results) {
  for (TaskQueue* queue : Queues()) {
    std::vector<LiveTaskPtr> stranded;
    for (const LiveTaskPtr& live : *queue) {
      if (live->task.kind != TaskKind::kNoop && PlacesFor(*live) == 0) stranded.push_back(live);
    }
    for (const LiveTaskPtr& live : stranded) {
      queue->Erase(live);
      if (live->stage == TaskStage::kReady && !live->sync()) ahead_.RemoveImage();
      live->file = {};
      LeaveReadAhead(live);
      PutBack(live, results);
    }
  }
  for (LaneState* lane : {&sync_lane_, &async_lane_}) lane->decode_work.notify_all();
}

std::vector<DeviceStatus> Scheduler::devices(const std::shared_ptr<Engine>& engine) {
  const std::lock_guard lock(mutex_);
  const ModelDevices& model = models_.Of(engine);
  std::vector<DeviceStatus> all;
  for (size_t place = 0; place < model.devices.size(); ++place) {
    const bool left = (planner_.left() >> place & 1) != 0;
    const bool failed = (model.failed >> place & 1) != 0;
    all.push_back({model.devices[place].index, model.devices[place].name,
                   !left    ? DeviceState::kLost
                   : failed ? DeviceState::kFailedCheck
                            : DeviceState::kOk,
                   model.images[place]});
  }
  return all;
}

void Scheduler::JudgeDevice(const std::shared_ptr<Engine>& engine, int index, bool right) {
  std::vector<TaskResult> results;
  {
    const std::lock_guard lock(mutex_);
    ModelDevices& model = models_.Of(engine);
    const PlaceSet place = model.At(index);
    model.failed = right ? model.failed & ~place : model.failed | place;
    Sweep(&results);
    for (const Lane lane : {Lane::kSync, Lane::kAsync}) {
      std::condition_variable* const wake = NextWake(lane);
      if (wake != nullptr) wake->notify_one();
    }
  }
  Deliver(std::move(results));
}

}  // namespace lattice
