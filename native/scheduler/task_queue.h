// A task on its way through the scheduler, and the order in which tasks are served.
#ifndef LATTICE_SCHEDULER_TASK_QUEUE_H_
#define LATTICE_SCHEDULER_TASK_QUEUE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "native/base/byte_buffer.h"
#include "native/base/stopwatch.h"
#include "native/scheduler/image_task.h"

namespace lattice {

// The states in the order in which a task passes through them. Scheduler::Move says which figures a
// state counts for.
enum class TaskState {
  kOutside,   // not begun, or over
  kUnread,    // waits for its file to be read
  kReading,   // in the hands of a read thread
  kRead,      // waits for a decode thread
  kDecoding,  // in the hands of a decode thread
  kReady,     // waits for the network
  kRunning,   // in a batch
  kSplit,     // its parts are on their way
};

struct LiveTask;
using LiveTaskPtr = std::shared_ptr<LiveTask>;

// A decoded image as its engine keeps it: one input, or one per part of the grid.
struct TakenImage {
  TileGrid grid;
  EngineInputs inputs;
};

// A decoded picture in tiles, whose parts are tasks of their own in the queue of the network.
struct Split {
  std::vector<LiveTaskPtr> parts;  // in the order of TileGrid::Parts; empty once it was answered
  std::vector<Detections> found;   // of each part
  size_t open = 0;                 // parts that the network has not answered
};

// Guarded by the scheduler's mutex, except `task`, `file` and `input`: those belong to the
// thread that works on the task while `state` is kDecoding or kRunning.
struct LiveTask {
  ImageTask task;
  uint64_t sequence = 0;
  TaskState state = TaskState::kOutside;
  bool answered = false;  // what is still under way is dropped
  Clock::time_point submitted;
  Clock::time_point read_began;
  Clock::time_point ready;
  std::optional<Clock::time_point> deadline;
  double read_ms = 0;
  ByteBuffer file;        // while it waits to be decoded
  size_t file_bytes = 0;  // 0 until they are known
  bool put_off = false;   // its file did not fit the bytes of files
  std::unique_ptr<EngineInput> input;
  size_t pixel_bytes = 0;  // 0 until they are known
  TaskResult result;       // filled step by step
  std::unique_ptr<Split> split;
  LiveTaskPtr whole;  // of a part: the task that is answered
  size_t part = 0;    // of `whole`

  bool sync() const { return task.work_class == WorkClass::kSync; }
  bool has_file() const { return !task.pixels && task.sent == nullptr; }
};

// The task that is answered for this one: a part has its picture's.
inline LiveTaskPtr Answered(const LiveTaskPtr& live) { return live->whole ? live->whole : live; }

// The tasks of one class: async ones by priority, then submission; sync ones by submission,
// whatever their priority. Each part of a picture counts as a submission of its own, so that
// tasks that came soon after it do not wait for all of them. Not thread-safe.
class TaskQueue {
 public:
  bool empty() const { return tasks_.empty(); }
  size_t size() const { return tasks_.size(); }
  const LiveTaskPtr& front() const { return *tasks_.begin(); }
  auto begin() const { return tasks_.begin(); }
  auto end() const { return tasks_.end(); }

  // Adds or removes.
  void Set(const LiveTaskPtr& task, bool in) {
    if (in) {
      tasks_.insert(task);
    } else {
      tasks_.erase(task);
    }
  }

 private:
  struct Before {
    bool operator()(const LiveTaskPtr& a, const LiveTaskPtr& b) const {
      if (!a->sync() && a->task.priority != b->task.priority) {
        return a->task.priority > b->task.priority;
      }
      return std::pair(a->sequence + a->part, a->sequence) <
             std::pair(b->sequence + b->part, b->sequence);
    }
  };

  std::set<LiveTaskPtr, Before> tasks_;
};

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_TASK_QUEUE_H_
