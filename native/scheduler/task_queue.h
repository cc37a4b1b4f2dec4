// A task on its way through the scheduler, and the order in which tasks are served.
#ifndef LATTICE_SCHEDULER_TASK_QUEUE_H_
#define LATTICE_SCHEDULER_TASK_QUEUE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "native/base/stopwatch.h"
#include "native/pipeline/image_pipeline.h"

namespace lattice {

enum class TaskStage { kUnread, kReading, kRead, kDecoding, kReady, kInferring };

// Guarded by the scheduler's mutex, but for `task`, `file` and `prepared`: those belong to the
// thread that works on the task while `stage` is kDecoding or kInferring.
struct LiveTask {
  ImageTask task;
  uint64_t sequence = 0;
  TaskStage stage = TaskStage::kUnread;
  bool answered = false;  // by a deadline or a cancel; what is still under way is dropped
  Clock::time_point submitted;
  Clock::time_point asked_for_file;
  Clock::time_point ready;
  std::optional<std::multimap<Clock::time_point, std::shared_ptr<LiveTask>>::iterator> deadline;
  double read_ms = 0;          // from when its file was asked for
  ByteBuffer file;             // while it waits to be decoded
  size_t file_bytes = 0;       // 0 until they are known
  size_t held_file_bytes = 0;  // counted in the read-ahead
  bool read_ahead = false;     // counted as an image of it
  bool put_off = false;        // its file did not fit there
  PreparedImage prepared;
  size_t pixel_bytes = 0;   // as its header says; 0 until that was read
  size_t held_bytes = 0;    // counted in the look-ahead
  int losses = 0;           // devices that were lost with it in hand
  int decoded_in_vain = 0;  // for a device that was gone when its turn came
  TaskResult result;        // filled stage by stage

  Lane lane() const { return task.kind == TaskKind::kAsync ? Lane::kAsync : Lane::kSync; }
  bool sync() const { return lane() == Lane::kSync; }
  bool has_file() const { return task.kind != TaskKind::kNoop && !task.pixels; }
};

using LiveTaskPtr = std::shared_ptr<LiveTask>;

// The tasks of one lane: async ones by priority, then submission; sync ones as they came, whatever
// priority they carry. Not thread-safe.
class TaskQueue {
 public:
  bool empty() const { return tasks_.empty(); }
  size_t size() const { return tasks_.size(); }
  const LiveTaskPtr& front() const { return *tasks_.begin(); }
  auto begin() const { return tasks_.begin(); }
  auto end() const { return tasks_.end(); }

  void Push(LiveTaskPtr task) { tasks_.insert(std::move(task)); }
  bool Erase(const LiveTaskPtr& task) { return tasks_.erase(task) != 0; }

  LiveTaskPtr Pop() { return std::move(tasks_.extract(tasks_.begin()).value()); }

 private:
  struct Before {
    bool operator()(const LiveTaskPtr& a, const LiveTaskPtr& b) const {
      if (!a->sync() && a->task.priority != b->task.priority) {
        return a->task.priority > b->task.priority;
      }
      return a->sequence < b->sequence;
    }
  };

  std::set<LiveTaskPtr, Before> tasks_;
};

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_TASK_QUEUE_H_
