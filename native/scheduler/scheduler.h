// Runs image tasks on its own threads: read and decode ahead, infer in batches, answer each once.
#ifndef LATTICE_SCHEDULER_SCHEDULER_H_
#define LATTICE_SCHEDULER_SCHEDULER_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <unordered_map>
#include <vector>

#include "native/base/mutex.h"
#include "native/files/file_reader.h"
#include "native/scheduler/class_state.h"
#include "native/scheduler/outbox.h"
#include "native/scheduler/read_depth.h"
#include "native/scheduler/running_batch.h"
#include "native/scheduler/scheduler_options.h"

namespace lattice {

// Sync and async tasks each have their own decode threads, batch threads and slots of the engine,
// so a sync task waits for sync tasks only. Files are read before they take a decode thread, many
// at a time: waiting for a volume costs no core. Async tasks are read and decoded by priority, then
// submission: at most ReadAhead() files ahead of decoding. Images of either class are decoded at
// most so many images and bytes ahead of the network. A batch takes what is ready for one engine,
// up to its largest batch, and does not wait for more.
//
// A picture in tiles is decoded once; its parts, the whole picture among them, then wait for the
// network like images of their own. Async ones go into one batch if it holds them.
//
// A class has a thread per slot. A sync image that no other waits behind runs on the thread that
// decoded it.
//
// The engines run on one device. Once it has answered kGpuLost it is lost to this process: every
// live task and every later one is answered with kGpuLost.
class Scheduler {
 public:
  // Called once per task on one of the scheduler's threads or on the thread of a public method,
  // never under the scheduler's lock. It must not block and must not call back.
  using OnResult = std::function<void(TaskResult)>;
  // Called at most once, in the same way, before the results that say so.
  using OnDeviceLost = std::function<void(const Status&)>;

  // `files` and `marker` must outlive the scheduler, and the files be closed after it.
  Scheduler(const SchedulerOptions& options, const FileReader& files, const CrashMarker& marker,
            OnResult on_result, OnDeviceLost on_device_lost = nullptr);
  ~Scheduler();  // as Close
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Thread-safe, never blocks on work. Returns the id that is live already, and then takes none of
  // the tasks; 0 when all were taken. After Close every task is answered with kShuttingDown.
  //
  // A task whose deadline has passed is neither decoded nor run: it is answered with
  // kDeadlineExceeded when its turn comes. So is a sync task that has less time left than a sync
  // batch of its model takes on average.
  uint64_t Submit(std::vector<ImageTask> tasks) LATTICE_EXCLUDES(mutex_);

  // Answers these tasks with kCancelled at once; work in hand goes on and its result is dropped.
  // Unknown ids are ignored. Returns how many had not started to decode. Thread-safe.
  size_t Cancel(std::span<const uint64_t> ids) LATTICE_EXCLUDES(mutex_);

  // The device cannot be used any more. `status` is kGpuLost with the reason. Thread-safe.
  void LoseDevice(const Status& status) LATTICE_EXCLUDES(mutex_);

  SchedulerStats stats() const LATTICE_EXCLUDES(mutex_);

  // Answers what waits with kShuttingDown, lets what is in hand finish, joins the threads.
  // Idempotent.
  void Close() LATTICE_EXCLUDES(mutex_);

 private:
  ClassState& Of(WorkClass work_class) LATTICE_REQUIRES(mutex_) {
    return work_class == WorkClass::kSync ? sync_ : async_;
  }
  ClassState& Of(const LiveTask& live) LATTICE_REQUIRES(mutex_) { return Of(live.task.work_class); }

  void Release() LATTICE_RELEASE(mutex_);
  void Move(const LiveTaskPtr& live, TaskState to) LATTICE_REQUIRES(mutex_);
  void Count(const LiveTaskPtr& live, bool in) LATTICE_REQUIRES(mutex_);
  void SetPixelBytes(const LiveTaskPtr& live, size_t bytes) LATTICE_REQUIRES(mutex_);
  void End(const LiveTaskPtr& live, Status status) LATTICE_REQUIRES(mutex_);
  void Lose(const Status& status) LATTICE_REQUIRES(mutex_);
  Status Refusal(const ImageTask& task) const LATTICE_REQUIRES(mutex_);

  void Enqueue(const LiveTaskPtr& live) LATTICE_REQUIRES(mutex_);
  void ReadAhead() LATTICE_REQUIRES(mutex_);
  void StartRead(const LiveTaskPtr& live) LATTICE_REQUIRES(mutex_);
  bool MayRead(const LiveTaskPtr& live, size_t file_bytes) LATTICE_EXCLUDES(mutex_);
  void OnRead(const LiveTaskPtr& live, Result<FileContent> file) LATTICE_EXCLUDES(mutex_);

  void DecodeLoop(WorkClass work_class) LATTICE_EXCLUDES(mutex_);
  LiveTaskPtr NextToDecode(ClassState& work) LATTICE_REQUIRES(mutex_);
  void HaveDecoded(const LiveTaskPtr& live) LATTICE_EXCLUDES(mutex_);
  std::optional<Result<TakenImage>> TakeByEngine(const LiveTaskPtr& live) LATTICE_EXCLUDES(mutex_);
  bool Admit(const LiveTaskPtr& live, size_t pixel_bytes) LATTICE_EXCLUDES(mutex_);
  void CountDecoded(DecodedBy by) LATTICE_REQUIRES(mutex_);

  static int ExpectedParts(const ImageTask& task, const EncodedImage& encoded);
  bool HasTimeFor(const LiveTaskPtr& live, int parts) LATTICE_EXCLUDES(mutex_);
  static Result<TakenImage> TakeParts(const ImageTask& task, Image picture);
  Result<TakenImage> DecodeParts(const ImageTask& task, const EncodedImage& encoded,
                                 PixelLayout layout) const;
  void QueueParts(const LiveTaskPtr& live, TakenImage taken) LATTICE_RELEASE(mutex_);
  void EndPart(const LiveTaskPtr& part, const Status& status, Detections found)
      LATTICE_RELEASE(mutex_);
  void DropParts(const LiveTaskPtr& whole) LATTICE_REQUIRES(mutex_);

  void BatchLoop(WorkClass work_class) LATTICE_EXCLUDES(mutex_);
  RunningBatchPtr TakeBatch(ClassState& work) LATTICE_REQUIRES(mutex_);
  void RunOrQueue(const LiveTaskPtr& live) LATTICE_RELEASE(mutex_);
  static std::vector<BoxDescriptor> DescriptorsOf(const LiveTask& live, const Detections& found);
  void RunBatch(const RunningBatch& batch) LATTICE_EXCLUDES(mutex_);
  void LeaveNetwork(const RunningBatch& batch, const Status& status, double inference_ms)
      LATTICE_REQUIRES(mutex_);
  bool IsTooLate(const LiveTask& live) LATTICE_REQUIRES(mutex_);
  void EndIfTooLate(const LiveTaskPtr& live) LATTICE_REQUIRES(mutex_);

  const SchedulerOptions options_;
  const FileReader& files_;
  const CrashMarker& marker_;
  const OnResult on_result_;
  const OnDeviceLost on_device_lost_;

  mutable Mutex mutex_;
  Condition read_ended_;  // while closing
  bool closing_ LATTICE_GUARDED_BY(mutex_) = false;
  Status lost_ LATTICE_GUARDED_BY(mutex_);  // not ok: the device is lost
  uint64_t next_sequence_ LATTICE_GUARDED_BY(mutex_) = 0;
  std::unordered_map<uint64_t, LiveTaskPtr> live_ LATTICE_GUARDED_BY(mutex_);
  ClassState sync_ LATTICE_GUARDED_BY(mutex_);
  ClassState async_ LATTICE_GUARDED_BY(mutex_);
  size_t open_reads_ LATTICE_GUARDED_BY(mutex_) = 0;  // whose threads may still use the scheduler
  ReadDepth read_depth_ LATTICE_GUARDED_BY(mutex_);
  int batches_on_decode_threads_ LATTICE_GUARDED_BY(mutex_) = 0;
  // Mean milliseconds of each engine's sync batches in the network.
  std::map<std::weak_ptr<Engine>, double, std::owner_less<>> sync_batch_ms_
      LATTICE_GUARDED_BY(mutex_);
  SchedulerStats counters_ LATTICE_GUARDED_BY(mutex_);
  Outbox outbox_ LATTICE_GUARDED_BY(mutex_);

  std::mutex joining_;
  std::vector<std::thread> threads_;
};

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_SCHEDULER_H_
