// The part of the scheduler that has images decoded.
#include <utility>

#include "native/base/thread_class.h"
#include "native/scheduler/scheduler.h"

namespace lattice {

void Scheduler::DecodeLoop(WorkClass work_class) {
  const SignalStack signal_stack;
  (void)NameThread("lattice-decode");
  // Where it is refused, async decoding competes on equal terms.
  if (work_class == WorkClass::kAsync && options_.async_nice != 0) {
    (void)LowerThread(options_.async_nice);
  }
  while (true) {
    mutex_.Lock();
    ClassState& work = Of(work_class);
    while (!closing_ && work.Decodable() == 0) work.decode_work.Wait(mutex_);
    const bool over = work.Decodable() == 0;
    const LiveTaskPtr live = over ? nullptr : TakeForDecode(work);
    Release();
    if (over) break;
    if (live != nullptr) Decode(live);
  }
  ImagePipeline::ReleaseThread();
}

// The next task; null where it came too late and was answered.
LiveTaskPtr Scheduler::TakeForDecode(ClassState& work) {
  const LiveTaskPtr live = work.read.front();
  EndIfTooLate(live);
  if (live->answered) return nullptr;
  Move(live, TaskState::kDecoding);
  live->result.times.queue = Milliseconds(Clock::now() - live->submitted) - live->read_ms;
  return live;
}

void Scheduler::Decode(const LiveTaskPtr& live) {
  Status status;
  {
    const CrashMarker::InHand in_hand(marker_, {&live->task.id, 1});
    auto opened = pipeline_.Open(live->task, std::move(live->file));
    status = opened.status();
    if (status.ok()) {
      if (!Admit(live, &*opened)) return;
      auto prepared = pipeline_.Prepare(live->task, *std::move(opened));
      status = prepared.status();
      if (status.ok()) live->prepared = *std::move(prepared);
    }
  }
  mutex_.Lock();
  TaskResult& result = live->result;
  result.times.decode = live->read_ms + live->prepared.decode_ms;
  result.times.preprocess = live->prepared.preprocess_ms;
  result.width = live->prepared.width;
  result.height = live->prepared.height;
  if (status.code() == StatusCode::kGpuLost) Lose(status);
  if (status.ok() && closing_) status = {StatusCode::kShuttingDown, "The core is closing."};
  if (status.ok() && !live->answered) {
    SetPixelBytes(live, live->prepared.input->pixel_bytes());
    return RunOrQueue(live);
  }
  if (!live->answered) End(live, std::move(status));
  Move(live, TaskState::kOutside);
  Release();
}

// Whether the image may be decoded now that its size is known. If not, this thread has it no more:
// it waits again, with those behind it, or was answered meanwhile.
bool Scheduler::Admit(const LiveTaskPtr& live, OpenedImage* opened) {
  const size_t pixel_bytes = pipeline_.PixelBytes(live->task, *opened);
  mutex_.Lock();
  SetPixelBytes(live, 0);
  const bool fits = closing_ || Of(*live).pixels.Fits(pixel_bytes);
  if (fits && !live->answered) {
    SetPixelBytes(live, pixel_bytes);
    mutex_.Unlock();
    return true;
  }
  live->file = std::move(opened->file);
  Move(live, live->answered ? TaskState::kOutside : TaskState::kRead);
  live->pixel_bytes = pixel_bytes;
  Release();
  return false;
}

}  // namespace lattice
