// A task on its way through the scheduler.
#ifndef LATTICE_SCHEDULER_LIVE_TASK_H_
#define LATTICE_SCHEDULER_LIVE_TASK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "native/base/byte_buffer.h"
#include "native/base/stopwatch.h"
#include "native/scheduler/image_task.h"

namespace lattice {

// In the order in which a task passes through them. Scheduler::Count says what each one counts for.
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
  std::shared_ptr<const PictureLook> look = nullptr;
  std::unique_ptr<const DescribedPicture> described = nullptr;
  EngineInputs inputs;
  std::optional<PicturePosition> position = std::nullopt;
};

// A decoded picture in tiles, whose parts are tasks of their own in the queue of the network.
struct Split {
  std::vector<LiveTaskPtr> parts;  // in the order of TileGrid::Parts; empty once it was answered
  std::vector<Detections> found;   // of each part
  size_t open = 0;                 // parts that the network has not answered
};

// Guarded by the scheduler's mutex, except `task`, `file` and `input`: those belong to the
// thread that works on the task while `state` is kReading, kDecoding or kRunning.
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
  std::unique_ptr<const DescribedPicture> described;  // where its boxes get descriptors
  size_t pixel_bytes = 0;                             // 0 until they are known
  TaskResult result;                                  // filled step by step
  std::unique_ptr<Split> split;
  LiveTaskPtr whole;  // of a part: the task that is answered
  size_t part = 0;    // of `whole`

  bool sync() const { return task.work_class == WorkClass::kSync; }
  bool has_file() const { return !task.pixels && task.sent == nullptr; }
  size_t described_bytes() const { return described ? described->luma.levels.size() : 0; }
};

// The task that is answered for this one: a part has its picture's.
inline LiveTaskPtr Answered(const LiveTaskPtr& live) { return live->whole ? live->whole : live; }

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_LIVE_TASK_H_
