// Runs image tasks on threads of its own: read and decode ahead, infer in slices, answer each once.
#ifndef LATTICE_SCHEDULER_SCHEDULER_H_
#define LATTICE_SCHEDULER_SCHEDULER_H_

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <thread>
#include <unordered_map>
#include <vector>

#include "native/pipeline/image_pipeline.h"
#include "native/scheduler/lane_state.h"
#include "native/scheduler/left_threads.h"
#include "native/scheduler/look_ahead.h"
#include "native/scheduler/model_devices.h"
#include "native/scheduler/overdue_slices.h"
#include "native/scheduler/read_depth.h"
#include "native/scheduler/scheduler_options.h"

namespace lattice {

// Sync and async tasks have decode threads and a lane of the engine each, so a sync task waits for
// sync tasks only. Files are read before they take a decode thread, many at a time: waiting for a
// volume costs no core. Async tasks are read and decoded by priority, then submission: at most
// ReadAhead() files ahead of decoding, LookAhead() images ahead of the network, each within its
// bytes. A slice takes what is ready for the same engine up to its batch, and waits for no company.
//
// A lane has a thread for each slot. Where there are more than slices, the next slice computes
// while one turns the raw output of the last into boxes. A sync image that nobody waits behind runs
// on the thread that decoded it. With several devices the DevicePlanner says where a slice runs.
//
// A device that answers kGpuLost, or nothing within longest_run, is out for every model. The images
// that it had in hand go back to their place in the order, once each, and run alone: the second
// time, and where no device is left for them, they get kGpuLost. What lies on it is decoded again.
class Scheduler {
 public:
  // Called once for each task on one of the scheduler's threads or on the thread of Cancel or
  // Close, never under the scheduler's lock. It must not block and must not call back.
  using OnResult = std::function<void(TaskResult)>;

  // `pipeline` and `marker` must outlive the scheduler, and the files be closed after it.
  Scheduler(const SchedulerOptions& options, const ImagePipeline& pipeline,
            const CrashMarker& marker, OnResult on_result);
  ~Scheduler();  // as Close
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Thread-safe, never blocks on work. Returns the id that is live already, and then takes none of
  // the tasks; 0 when all were taken. After Close every task is answered with kShuttingDown; one
  // for a device that is not there with kGpuUnavailable, for a lost one with kGpuLost.
  uint64_t Submit(std::vector<ImageTask> tasks);

  // Answers these tasks with kCancelled at once; work in hand goes on and its result is dropped.
  // Unknown ids are passed over. Returns how many had not started to decode. Thread-safe.
  size_t Cancel(std::span<const uint64_t> ids);

  SchedulerStats stats() const;

  // The devices of a model, in its own order. Thread-safe.
  std::vector<DeviceStatus> devices(const std::shared_ptr<Engine>& engine);
  // Tasks that name no device keep away from one whose boxes of this model are not `right`, as long
  // as there is another. Unknown indices are passed over. Thread-safe.
  void JudgeDevice(const std::shared_ptr<Engine>& engine, int index, bool right);

  // Answers what waits with kShuttingDown, lets what is in hand finish, joins threads, but for
  // those in an engine's call beyond longest_run: once back, they touch nothing of it. Idempotent.
  void Close();

 private:
  void DecodeLoop(Lane lane, size_t thread);
  void InferLoop(Lane lane, size_t place);
  void DeadlineLoop();
  void ReviewSoon();

  LaneState& StateOf(Lane lane) { return lane == Lane::kSync ? sync_lane_ : async_lane_; }
  LaneState& StateOf(const LiveTaskPtr& live) { return StateOf(live->lane()); }
  std::vector<TaskQueue*> Queues();
  void Enqueue(const LiveTaskPtr& live);
  void ReadAhead();
  void StartRead(const LiveTaskPtr& live);
  bool MayTake(const LiveTaskPtr& live, size_t file_bytes);
  void OnRead(const LiveTaskPtr& live, Result<ByteBuffer> file);
  void EnterReadAhead(const LiveTaskPtr& live);
  void LeaveReadAhead(const LiveTaskPtr& live);
  size_t Decodable(Lane lane) const;
  LiveTaskPtr TakeForDecode(Lane lane);
  std::condition_variable* NextWake(Lane lane);
  Slice FrontSlice(const LaneState& lane) const;
  std::vector<Slice> Slices(Lane lane);
  std::optional<ChosenSlice> Choose(Lane lane);
  std::optional<ChosenSlice> TakeSlice(Lane lane, std::optional<size_t> place);
  bool GoOn(const LiveTaskPtr& live, std::unique_lock<std::mutex>& lock);
  RunningSlicePtr Begin(Lane lane, ChosenSlice chosen);
  bool RunSlice(Lane lane, ChosenSlice chosen, std::unique_lock<std::mutex>& lock);
  void LeaveSlice(const RunningSlicePtr& running, const Status& status,
                  std::vector<TaskResult>* results);
  std::vector<RunningSlicePtr> GiveUp(Clock::time_point now, std::vector<TaskResult>* results);
  void Finish(const LiveTaskPtr& live, const Status& status, Detections detections,
              double inference_ms, double postprocess_ms);
  void AnswerNoops(std::unique_lock<std::mutex>& lock);
  bool Decode(const LiveTaskPtr& live);
  bool Admit(const LiveTaskPtr& live, OpenedImage* opened);
  void Hold(const LiveTaskPtr& live, size_t bytes);
  void AddDeadline(const LiveTaskPtr& live);
  void Withdraw(const LiveTaskPtr& live);
  Status Refusal(const LiveTask& live);
  PlaceSet PlacesFor(const LiveTask& live);
  bool AllDevicesAreIn(const std::shared_ptr<Engine>& engine);
  void PutBack(const LiveTaskPtr& live, std::vector<TaskResult>* results);
  void Sweep(std::vector<TaskResult>* results);
  void Deliver(std::vector<TaskResult> results);
  TaskResult Answer(const LiveTaskPtr& live, Status status);

  const SchedulerOptions options_;
  const ImagePipeline& pipeline_;
  const CrashMarker& marker_;
  const OnResult on_result_;

  mutable std::mutex mutex_;
  std::condition_variable deadline_work_;
  std::condition_variable reads_over_;
  bool closing_ = false;
  uint64_t next_sequence_ = 0;
  std::unordered_map<uint64_t, LiveTaskPtr> live_;
  LaneState sync_lane_;
  LaneState async_lane_;
  DevicePlanner planner_;
  ModelDevicesTable models_;
  // When the deadline thread looks again at slices that wait for a busy device.
  Clock::time_point review_at_ = Clock::time_point::max();
  ReadDepth read_depth_;
  LookAhead read_ahead_;  // async tasks reading or read, and their files
  LookAhead ahead_;       // async tasks decoding or ready, and their pixels
  std::multimap<Clock::time_point, LiveTaskPtr> deadlines_;
  Clock::time_point deadline_wake_ = Clock::time_point::max();
  OverdueSlices overdue_;
  const std::shared_ptr<LeftThreads> left_ = std::make_shared<LeftThreads>();
  SchedulerStats counters_;

  std::mutex joining_;
  std::vector<std::thread> threads_;
  std::thread deadline_thread_;
};

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_SCHEDULER_H_
