// Runs image tasks on threads of its own: decode ahead, infer in slices, answer each task once.
#ifndef LATTICE_SCHEDULER_SCHEDULER_H_
#define LATTICE_SCHEDULER_SCHEDULER_H_

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "native/base/crash_marker.h"
#include "native/pipeline/image_pipeline.h"
#include "native/scheduler/task_queue.h"

namespace lattice {

struct SchedulerOptions {
  int decode_threads = 1;  // for sync tasks, and as many again for async ones
  LaneOptions sync;        // as the engines' own
  LaneOptions async;
  int async_nice = 0;  // added to the niceness of async decode threads
  // CPUs of each decode thread of a lane, as DecodePlaces; empty: the system's choice.
  std::vector<std::vector<int>> decode_cpus = {};
};

struct SchedulerStats {
  size_t queued_sync = 0;  // not yet decoding
  size_t queued_async = 0;
  size_t decoding = 0;
  size_t inferring = 0;
  uint64_t completed = 0;
  uint64_t failed = 0;
  uint64_t cancelled = 0;
};

// Sync and async tasks have decode threads and a lane of the engine each, so a sync task waits for
// sync tasks only. Async tasks are decoded by priority, then submission, at most 2 * async.parallel
// + decode_threads images ahead of the network. A slice takes what is ready for the same engine up
// to its batch; nothing ever waits for company.
//
// A lane has a thread for each slot of the engines. Where there are more than slices, the next
// slice computes while one thread turns the raw output of the last into boxes.
class Scheduler {
 public:
  // Called once for each task on one of the scheduler's threads or on the thread of Cancel or
  // Close, never under the scheduler's lock. It must not block and must not call back.
  using OnResult = std::function<void(TaskResult)>;

  // `pipeline` and `marker` must outlive the scheduler.
  Scheduler(const SchedulerOptions& options, const ImagePipeline& pipeline,
            const CrashMarker& marker, OnResult on_result);
  ~Scheduler();  // as Close
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Thread-safe, never blocks on work. Returns the id that is live already, and then takes none of
  // the tasks; 0 when all were taken. After Close every task is answered with kShuttingDown.
  uint64_t Submit(std::vector<ImageTask> tasks);

  // Answers these tasks with kCancelled at once; work in hand goes on and its result is dropped.
  // Unknown ids are passed over. Returns how many had not started to decode. Thread-safe.
  size_t Cancel(std::span<const uint64_t> ids);

  SchedulerStats stats() const;

  // Answers what waits with kShuttingDown, lets work in hand finish, joins all threads. Idempotent.
  void Close();

 private:
  // What waits for the network and what runs there.
  struct LaneState {
    explicit LaneState(const LaneOptions& lane) : options(lane) {}
    bool CanRun() const { return !ready.empty() && running_slices < options.parallel; }

    const LaneOptions options;
    TaskQueue ready;
    int running_slices = 0;
    std::condition_variable work;
  };

  void DecodeLoop(Lane lane, size_t thread);
  void InferLoop(Lane lane, int slot);
  void DeadlineLoop();

  LaneState& StateOf(Lane lane) { return lane == Lane::kSync ? sync_lane_ : async_lane_; }
  size_t Decodable(Lane lane) const;
  LiveTaskPtr TakeForDecode(Lane lane);
  std::vector<LiveTaskPtr> TakeSlice(LaneState& lane);
  void RunSlice(Lane lane, int slot, std::unique_lock<std::mutex>& lock);
  void Finish(const LiveTaskPtr& live, const Status& status, Detections detections,
              double inference_ms, double postprocess_ms);
  void AnswerNoops(std::unique_lock<std::mutex>& lock);
  void Decode(const LiveTaskPtr& live);
  void AddDeadline(const LiveTaskPtr& live);
  void Withdraw(const LiveTaskPtr& live);
  TaskResult Answer(const LiveTaskPtr& live, Status status);

  const SchedulerOptions options_;
  const size_t look_ahead_;
  const ImagePipeline& pipeline_;
  const CrashMarker& marker_;
  const OnResult on_result_;

  mutable std::mutex mutex_;
  std::condition_variable sync_work_;
  std::condition_variable async_work_;
  std::condition_variable deadline_work_;
  bool closing_ = false;
  uint64_t next_sequence_ = 0;
  std::unordered_map<uint64_t, LiveTaskPtr> live_;
  TaskQueue sync_queue_;
  TaskQueue async_queue_;
  LaneState sync_lane_;
  LaneState async_lane_;
  size_t async_ahead_ = 0;  // async tasks decoding or ready
  std::multimap<Clock::time_point, LiveTaskPtr> deadlines_;
  Clock::time_point deadline_wake_ = Clock::time_point::max();
  SchedulerStats counters_;

  std::mutex joining_;
  std::vector<std::thread> threads_;
};

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_SCHEDULER_H_
