// The part of the scheduler that has images decoded.
#include <vips/vips.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "native/base/thread_class.h"
#include "native/letterbox/letterbox.h"
#include "native/scheduler/scheduler.h"

namespace lattice {
namespace {

Result<TakenImage> OneInput(Result<std::unique_ptr<EngineInput>> input) {
  if (!input.ok()) return input.status();
  TakenImage taken;
  taken.inputs.push_back(*std::move(input));
  return taken;
}

}  // namespace

void Scheduler::DecodeLoop(WorkClass work_class) {
  const SignalStack signal_stack;
  (void)NameThread("lattice-decode");
  // If the lower priority is refused, async decoding competes on equal terms.
  if (work_class == WorkClass::kAsync && options_.async_nice != 0) {
    (void)LowerThread(options_.async_nice);
  }
  while (true) {
    mutex_.Lock();
    ClassState& work = Of(work_class);
    while (!closing_ && work.Decodable() == 0) work.decode_work.Wait(mutex_);
    const bool over = work.Decodable() == 0;
    const LiveTaskPtr live = over ? nullptr : NextToDecode(work);
    Release();
    if (over) break;
    if (live != nullptr) HaveDecoded(live);
  }
  vips_thread_shutdown();  // the decoders keep memory per thread
}

// The next task; null where it came too late and was answered.
LiveTaskPtr Scheduler::NextToDecode(ClassState& work) {
  const LiveTaskPtr live = work.read.front();
  EndIfTooLate(live);
  if (live->answered) return nullptr;
  Move(live, TaskState::kDecoding);
  live->result.times.queue = Milliseconds(Clock::now() - live->submitted) - live->read_ms;
  return live;
}

void Scheduler::HaveDecoded(const LiveTaskPtr& live) {
  auto taken = TakeByEngine(live);
  if (!taken) return;
  Status status = taken->status();
  mutex_.Lock();
  TaskResult& result = live->result;
  result.times.decode = live->read_ms;
  if (status.ok()) {
    const EngineInput& first = *(*taken)->inputs[0];
    result.grid = (*taken)->grid;
    result.look = (*taken)->look;
    result.position = (*taken)->position;
    live->described = std::move((*taken)->described);
    result.width = first.width;
    result.height = first.height;
    result.times.decode += first.decode_ms;
    for (const auto& input : (*taken)->inputs) result.times.preprocess += input->preprocess_ms;
    CountDecoded(first.decoded_by);
  }
  if (status.code() == StatusCode::kGpuLost) Lose(status);
  if (status.ok() && closing_) status = {StatusCode::kShuttingDown, "The core is closing."};
  if (status.ok() && !live->answered) {
    if (!result.grid.is_whole()) return QueueParts(live, **std::move(taken));
    live->input = std::move((*taken)->inputs[0]);
    SetPixelBytes(live, live->input->pixel_bytes() + live->described_bytes());
    return RunOrQueue(live);
  }
  if (!live->answered) End(live, std::move(status));
  Move(live, TaskState::kOutside);
  Release();
}

// Returns nullopt if this thread no longer has the task: see Admit.
std::optional<Result<TakenImage>> Scheduler::TakeByEngine(const LiveTaskPtr& live) {
  ImageTask& task = live->task;
  const CrashMarker::InHand in_hand(marker_, {&task.id, 1});
  const std::string& suffix = options_.abort_on_path_suffix;
  if (!suffix.empty() && task.path.ends_with(suffix)) std::abort();
  if (task.pixels) {
    if (!Admit(live, task.pixels->data.size())) return std::nullopt;
    const Status size = CheckSize(task.pixels->width, task.pixels->height, options_.limits);
    if (!size.ok()) return size;
    return TakeParts(task, *std::move(task.pixels));
  }
  const EncodedImage encoded = DescribeEncoded(task.sent != nullptr ? *task.sent : live->file);
  const int parts = ExpectedParts(task, encoded);
  const bool by_engine = parts == 1 && !task.needs_picture();
  const PixelLayout layout = parts == 1 ? FastestLayout() : PixelLayout::kRgb;
  const size_t bytes = by_engine ? task.engine->ExpectedBytes(encoded, options_.limits)
                                 : ExpectedPixelBytes(encoded, options_.limits, layout);
  if (!Admit(live, bytes)) return std::nullopt;
  if (!HasTimeFor(live, parts)) {
    return Status(StatusCode::kDeadlineExceeded, "Too little time is left for the " +
                                                     std::to_string(parts) +
                                                     " images of this picture and its tiles.");
  }
  auto taken = by_engine ? OneInput(task.engine->Take(encoded, options_.limits))
                         : DecodeParts(task, encoded, layout);
  if (taken.ok()) taken->position = ReadPosition(encoded);
  live->file = {};
  return taken;
}

// Whether the image may be decoded now that its size is known. If not, this thread has it no more:
// it waits again, with those behind it, or was answered meanwhile.
bool Scheduler::Admit(const LiveTaskPtr& live, size_t pixel_bytes) {
  mutex_.Lock();
  SetPixelBytes(live, 0);
  const bool fits = closing_ || Of(*live).pixels.Fits(pixel_bytes);
  if (fits && !live->answered) {
    SetPixelBytes(live, pixel_bytes);
    mutex_.Unlock();
    return true;
  }
  Move(live, live->answered ? TaskState::kOutside : TaskState::kRead);
  live->pixel_bytes = pixel_bytes;
  Release();
  return false;
}

void Scheduler::CountDecoded(DecodedBy by) {
  if (by == DecodedBy::kHardware) ++counters_.decoded_by_hardware;
  if (by == DecodedBy::kCpu || by == DecodedBy::kCpuAfterHardware) ++counters_.decoded_by_cpu;
  if (by == DecodedBy::kCpuAfterHardware) ++counters_.decode_retries;
}

}  // namespace lattice
