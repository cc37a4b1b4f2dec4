#include "native/scheduler/core.h"

#include <algorithm>
#include <utility>

#include "native/cpu/cpu_engine.h"
#include "native/cpu/cpu_precision.h"
#include "native/gpu/gpu_engine.h"

namespace lattice {
namespace {

// A JPEG has a tenth of its pixels' bytes, and those of a batch are in memory together.
constexpr size_t kPixelBytesPerFileByte = 4;

// Images with a waiting caller are decoded only so far ahead that the network never waits.
constexpr size_t kAsyncBytesPerSyncByte = 2;

// A wide sync batch has all threads up to 7, above that 4 or more: an engine takes more where its
// network is faster for it. Two images on half of 4 each take less time than one after the other.
// Async batches have one thread each while there are few: a network on one thread never waits at a
// barrier for a core that decoding or Node has taken.
constexpr int kThreadsPerWideBatch = 4;
constexpr int kSlotsPerWideBatch = 2;
constexpr int kMostAsyncBatches = 16;

// A thread waits for the image that the GPU decodes for it: so many more keep the cores busy beside
// two batches of seven JPEG engines.
constexpr int kDecodesOfGpu = 14;

// Files that sync tasks read at the same time, beside those of jobs.
constexpr size_t kSyncReads = 64;

SchedulerOptions Schedule(const CoreOptions& options, bool on_gpu) {
  const int threads = options.threads;
  SchedulerOptions schedule;
  schedule.limits = {options.max_pixels, options.max_side};
  schedule.abort_on_path_suffix = options.abort_on_path_suffix;
  schedule.async_pixel_bytes = options.look_ahead_bytes;
  schedule.sync_pixel_bytes = options.look_ahead_bytes / kAsyncBytesPerSyncByte;
  schedule.async_file_bytes = options.look_ahead_bytes / kPixelBytesPerFileByte;
  schedule.decode_threads = threads;
  // Decoding for jobs goes after decoding for waiting callers, but before the async batches.
  schedule.async_nice = 10;
  if (on_gpu) {
    schedule.decode_threads += kDecodesOfGpu;
    const GpuEngineOptions gpu;
    schedule.sync = schedule.async = {gpu.slots};
    schedule.sync_batch = gpu.most_sync;
    schedule.async_batch = options.gpu_batches.back();
    return schedule;
  }
  const int wide_batches = std::max(1, threads / kThreadsPerWideBatch);
  schedule.sync.wide = std::min(threads, kSlotsPerWideBatch);
  schedule.sync.slots = wide_batches * schedule.sync.wide;
  schedule.async.slots = std::clamp(threads, 1, kMostAsyncBatches);
  return schedule;
}

// The GPU to use, none for the CPU.
Result<std::optional<int>> ChooseGpu(const std::string& device) {
  if (device == "cpu") return std::optional<int>();
  const auto usable = UsableGpus();
  if (usable.ok()) return std::optional(usable->front().index);
  return usable.status();
}

Status Closed() { return {StatusCode::kShuttingDown, "The core is closed."}; }

}  // namespace

std::shared_ptr<Engine> FreedOn(std::shared_ptr<SerialThread> thread,
                                std::unique_ptr<Engine> engine) {
  return {engine.release(), [thread = std::move(thread)](Engine* freed) {
            if (!thread->Post([freed] { delete freed; })) delete freed;
          }};
}

Result<std::unique_ptr<Core>> Core::Open(const CoreOptions& options, Scheduler::OnResult on_result,
                                         Scheduler::OnDeviceLost on_device_lost) {
  const auto gpu = ChooseGpu(options.device);
  if (!gpu.ok()) return gpu.status();
  const Status decoders = InitDecoders();
  if (!decoders.ok()) return decoders;
  auto files = RootedFiles::Open(options.roots, options.max_file_bytes);
  if (!files.ok()) return files.status();
  auto marker = CrashMarker::Open(options.crash_marker_path);
  if (!marker.ok()) return marker.status();
  return std::unique_ptr<Core>(new Core(options, *gpu, *std::move(marker), *std::move(files),
                                        std::move(on_result), std::move(on_device_lost)));
}

Core::Core(const CoreOptions& options, std::optional<int> gpu, std::unique_ptr<CrashMarker> marker,
           RootedFiles files, Scheduler::OnResult on_result, Scheduler::OnDeviceLost on_device_lost)
    : options_(options),
      gpu_(gpu),
      schedule_(Schedule(options, gpu.has_value())),
      marker_(std::move(marker)),
      files_(std::move(files), {}, kSyncReads + static_cast<size_t>(schedule_.ReadAhead())),
      scheduler_(schedule_, files_, *marker_, std::move(on_result), std::move(on_device_lost)) {
  // Images need a model, and models come after it on the same thread.
  if (gpu_ && options_.hardware_decode) {
    loader_->Post([this] { OpenDecoder(); });
  } else {
    decoder_opened_ = true;
  }
}

Core::~Core() { Close(); }

void Core::OpenDecoder() {
  auto decoder = OpenJpegEngines(*gpu_);
  jpeg_engines_ = decoder.status();
  if (decoder.ok()) decoder_ = *std::move(decoder);
  decoder_opened_ = true;
}

Status Core::jpeg_engines() const { return decoder_opened_ ? jpeg_engines_ : Status(); }

void Core::LoadModel(ModelToLoad model, OnModel on_model) {
  auto shared = std::make_shared<OnModel>(std::move(on_model));
  const bool posted =
      loader_->Post([this, model = std::move(model), shared] { (*shared)(Load(model)); });
  if (!posted) (*shared)(Closed());
}

Result<std::unique_ptr<Engine>> Core::LoadEngine(const ModelToLoad& model) {
  if (gpu_) {
    GpuEngineOptions gpu_options;
    gpu_options.kept_folder = options_.engine_cache;
    gpu_options.gpu = *gpu_;
    gpu_options.batches = options_.gpu_batches;
    gpu_options.most_idle_bytes = options_.look_ahead_bytes;
    gpu_options.decoder = decoder_;
    auto engine =
        LoadGpuEngine(model.path, gpu_options, [this](double share) { return GoesOn(share); });
    build_share_ = -1;
    return engine;
  }
  EngineOptions engine_options;
  engine_options.precision = model.precision.empty() ? options_.precision : model.precision;
  engine_options.threads = options_.threads;
  engine_options.sync = schedule_.sync;
  engine_options.async = schedule_.async;
  engine_options.async_yields = options_.async_yields;
  engine_options.beside_others = HasModels();
  engine_options.rectangles = options_.rectangles;
  engine_options.kept_folder = options_.engine_cache;
  engine_options.most_kept_bytes = options_.most_kept_bytes;
  engine_options.anew = model.anew;
  engine_options.idle_inputs = size_t{2} * static_cast<size_t>(options_.threads) + 2;
  const bool in_eight_bits = !model.eight_bit.empty() && EightBitPays(options_.engine_cache);
  return LoadCpuEngine(in_eight_bits ? model.eight_bit : model.path, engine_options);
}

Result<LoadedModel> Core::Load(const ModelToLoad& model) {
  auto engine = LoadEngine(model);
  if (!engine.ok()) {
    if (engine.status().code() == StatusCode::kGpuLost) scheduler_.LoseDevice(engine.status());
    return engine.status();
  }
  LoadedModel loaded;
  loaded.info = (*engine)->info();
  loaded.batches = (*engine)->batches();
  auto shared = FreedOn(loader_, *std::move(engine));
  const MutexLock lock(mutex_);
  loaded.id = next_model_++;
  models_[loaded.id] = std::move(shared);
  return loaded;
}

bool Core::GoesOn(double share) {
  build_share_ = share;
  return !closing_;
}

void Core::AddBatches(uint32_t id, std::vector<int> batches, OnModel on_model) {
  auto shared = std::make_shared<OnModel>(std::move(on_model));
  const bool posted = loader_->Post(
      [this, id, batches = std::move(batches), shared] { (*shared)(AddTo(id, batches)); });
  if (!posted) (*shared)(Closed());
}

Result<LoadedModel> Core::AddTo(uint32_t id, std::span<const int> batches) {
  const auto engine = FindModel(id);
  if (engine == nullptr) return Status(StatusCode::kUnknownModel, "The model is not loaded.");
  const Status added = engine->AddBatches(batches, [this](double share) { return GoesOn(share); });
  build_share_ = -1;
  if (added.code() == StatusCode::kGpuLost) scheduler_.LoseDevice(added);
  if (!added.ok()) return added;
  return LoadedModel{id, engine->info(), engine->batches()};
}

void Core::UnloadModel(uint32_t id) {
  std::shared_ptr<Engine> released;  // without the lock
  const MutexLock lock(mutex_);
  const auto found = models_.find(id);
  if (found == models_.end()) return;
  released = std::move(found->second);
  models_.erase(found);
}

bool Core::HasModels() const {
  const MutexLock lock(mutex_);
  return !models_.empty();
}

std::shared_ptr<Engine> Core::FindModel(uint32_t id) const {
  const MutexLock lock(mutex_);
  const auto found = models_.find(id);
  return found == models_.end() ? nullptr : found->second;
}

void Core::ReadFile(std::string path, OnFile on_file) {
  files_.Read({std::move(path), {}, std::move(on_file)});
}

void Core::Close() {
  closing_ = true;
  scheduler_.Close();
  loader_->Stop();
  files_.Close();
}

}  // namespace lattice
