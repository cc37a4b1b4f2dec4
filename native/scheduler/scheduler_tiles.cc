// The part of the scheduler that runs pictures in tiles: cut after they were decoded, joined after
// the network has answered the last part.
#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "native/image/image_size.h"
#include "native/scheduler/scheduler.h"
#include "native/tiles/merge_tiles.h"

namespace lattice {
namespace {

// The grid for the picture with this header. EXIF may turn it: the larger grid of both ways counts.
TileGrid ExpectedGrid(const TileSpec& spec, const EncodedImage& encoded, const InputSize& input) {
  const auto size = ReadImageSize(encoded.bytes, encoded.format);
  if (!size || size->width < 1 || size->height < 1) return {};
  const TileGrid stored = GridFor(spec, *size, input);
  const TileGrid turned = GridFor(spec, {size->height, size->width}, input);
  return turned.parts() > stored.parts() ? turned : stored;
}

InputSize InputOf(const Engine& engine) {
  return {engine.info().input_width, engine.info().input_height};
}

}  // namespace

// How many images the network will see, by the header: 1 where a picture stays whole.
int Scheduler::ExpectedParts(const ImageTask& task, const EncodedImage& encoded) {
  if (!task.tiles) return 1;
  return ExpectedGrid(*task.tiles, encoded, InputOf(*task.engine)).parts();
}

// False if the network would need longer for `parts` inputs than is left, at the engine's mean time
// of a sync batch. True without a deadline, for async tasks, and before the first mean.
bool Scheduler::HasTimeFor(const LiveTaskPtr& live, int parts) {
  const MutexLock lock(mutex_);
  const auto mean = sync_batch_ms_.find(live->task.engine);
  if (!live->deadline || !live->sync() || mean == sync_batch_ms_.end()) return true;
  const Engine& engine = *live->task.engine;
  const int at_once = engine.slots(WorkClass::kSync) * engine.max_batch(WorkClass::kSync);
  return mean->second * parts / at_once < Milliseconds(*live->deadline - Clock::now());
}

Result<TakenImage> Scheduler::TakeParts(const ImageTask& task, Image picture) {
  TileGrid grid{.source_width = picture.width, .source_height = picture.height};
  if (task.tiles) {
    grid = GridFor(*task.tiles, {picture.width, picture.height}, InputOf(*task.engine));
  }
  Stopwatch watch;
  std::shared_ptr<const PictureLook> look;
  std::unique_ptr<const DescribedPicture> described;
  try {
    if (task.look) look = std::make_shared<PictureLook>(LookOf(picture));
    if (task.descriptors_above) {
      described = std::make_unique<DescribedPicture>(DescribedPictureOf(picture));
    }
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOverloaded, "There is not enough memory for the picture's look.");
  }
  const double look_ms = watch.Lap();
  auto inputs = task.engine->Take(std::move(picture), grid.Parts());
  if (!inputs.ok()) return inputs.status();
  (*inputs)[0]->preprocess_ms += look_ms;
  return TakenImage{grid, std::move(look), std::move(described), *std::move(inputs)};
}

Result<TakenImage> Scheduler::DecodeParts(const ImageTask& task, const EncodedImage& encoded,
                                          PixelLayout layout) const {
  Stopwatch watch;
  auto image = Decode(encoded.bytes, options_.limits, &task.engine->pixel_memory(), layout);
  if (!image.ok()) return image.status();
  const double decode_ms = watch.Lap();
  auto taken = TakeParts(task, *std::move(image));
  if (taken.ok()) {
    taken->inputs[0]->decode_ms = decode_ms;
    taken->inputs[0]->decoded_by = DecodedBy::kCpu;
  }
  return taken;
}

// The parts wait for the network as tasks of their own.
void Scheduler::QueueParts(const LiveTaskPtr& live, TakenImage taken) {
  const size_t count = taken.inputs.size();
  live->ready = Clock::now();
  live->result.batch = static_cast<int>(count);
  live->split = std::make_unique<Split>();
  live->split->found.resize(count);
  live->split->open = count;
  const size_t shared_bytes = taken.inputs[0]->shared_bytes;
  for (size_t i = 0; i < count; ++i) {
    auto part = std::make_shared<LiveTask>();
    part->task.id = live->task.id;
    part->task.engine = live->task.engine;
    part->task.work_class = live->task.work_class;
    part->task.priority = live->task.priority;
    part->task.options = live->task.options;
    part->sequence = live->sequence;
    part->submitted = live->submitted;
    part->ready = live->ready;
    part->deadline = live->deadline;
    part->input = std::move(taken.inputs[i]);
    part->pixel_bytes = part->input->pixel_bytes();
    part->whole = live;
    part->part = i;
    live->split->parts.push_back(part);
    Move(part, TaskState::kReady);
  }
  SetPixelBytes(live, shared_bytes + live->described_bytes());
  Move(live, TaskState::kSplit);
  Release();
}

// The network has answered a part. The thread that ends the last part merges the boxes of all
// parts.
void Scheduler::EndPart(const LiveTaskPtr& part, const Status& status, Detections found) {
  const LiveTaskPtr whole = part->whole;
  Move(part, TaskState::kOutside);
  if (!status.ok() && !whole->answered) End(whole, status);
  Split& split = *whole->split;
  split.found[part->part] = std::move(found);
  const bool joins = --split.open == 0 && !whole->answered;
  const TileGrid grid = whole->result.grid;
  // From the end of the decoding, with the waiting of the parts for the network.
  whole->result.times.inference = Milliseconds(Clock::now() - whole->ready);
  Release();
  if (!joins) return;

  Stopwatch watch;
  Detections merged = MergeTiles(grid, split.found, part->task.options);
  std::vector<BoxDescriptor> descriptors = DescriptorsOf(*whole, merged);
  mutex_.Lock();
  whole->result.detections = std::move(merged);
  whole->result.descriptors = std::move(descriptors);
  whole->result.times.postprocess = watch.Lap();
  if (!whole->answered) End(whole, status);
  Release();
}

// The parts of an answered task leave the queue; those in a batch are dropped after it.
void Scheduler::DropParts(const LiveTaskPtr& whole) {
  for (const LiveTaskPtr& part : std::exchange(whole->split->parts, {})) {
    part->answered = true;
    if (part->state != TaskState::kReady) continue;
    part->input.reset();
    Move(part, TaskState::kOutside);
  }
  Move(whole, TaskState::kOutside);
}

}  // namespace lattice
