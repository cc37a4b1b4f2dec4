#include "native/scheduler/core.h"

#include <algorithm>
#include <utility>

#include "native/engine/openvino/cpu_engine.h"
#include "native/engine/tensorrt/gpu_engine.h"

namespace lattice {
namespace {

// A JPEG has a tenth of its pixels' bytes, and those of a slice are all there at a time.
constexpr size_t kPixelBytesPerFileByte = 4;

// One sync slice on all threads up to 7, above that one for every 4 threads: small networks do not
// scale further. Async slices have one thread each while there are few: a network on one thread
// never waits at a barrier for a core that decoding or Node has taken.
constexpr int kThreadsPerSyncSlice = 4;
constexpr int kMostAsyncSlices = 16;

// While a slice computes on a GPU, the next one is queued behind it.
constexpr int kSlotsPerGpu = 2;

// A thread waits for the image that a GPU decodes for it: so many more keep the cores busy beside
// two batches of seven JPEG engines and three images of the GPU's kernels.
constexpr int kDecodesPerGpu = 17;

// Files that callers who wait have read at the same time, beside those of jobs.
constexpr size_t kSyncReads = 64;

// Measuring the decode routes holds the first model up.
constexpr double kMostCalibrationMs = 1000;

SchedulerOptions Schedule(int threads, size_t gpus, size_t look_ahead_bytes) {
  SchedulerOptions schedule;
  schedule.look_ahead_bytes = look_ahead_bytes;
  schedule.read_ahead_bytes = look_ahead_bytes / kPixelBytesPerFileByte;
  schedule.decode_threads = threads;
  // Decoding for jobs goes after decoding for waiting callers, but before the async slices.
  schedule.async_nice = 10;
  if (gpus > 0) {
    schedule.devices = static_cast<int>(gpus);
    schedule.decode_threads += kDecodesPerGpu * schedule.devices;
    const int slots = kSlotsPerGpu * schedule.devices;
    schedule.sync = schedule.async = {slots, slots};
    schedule.async_batch = kLargestGpuSlice;
    return schedule;
  }
  schedule.sync.parallel = std::max(1, threads / kThreadsPerSyncSlice);
  schedule.sync.slots = schedule.sync.parallel + 1;
  // No slot to spare: each is a network of its own, and while one turns output into boxes its core
  // has decoding to do.
  schedule.async.parallel = std::clamp(threads, 1, kMostAsyncSlices);
  schedule.async.slots = schedule.async.parallel;
  return schedule;
}

PipelineOptions Pipeline(const CoreOptions& options, size_t gpus, int read_ahead) {
  PipelineOptions pipeline;
  pipeline.limits.max_pixels = options.max_pixels;
  pipeline.limits.max_side = options.max_side;
  pipeline.read_threads = kSyncReads + static_cast<size_t>(read_ahead);
  pipeline.decode_threads = 2 * options.threads;  // of both lanes
  pipeline.fast_decode = options.fast_decode;
  pipeline.gpu_decode = gpus > 0;
  pipeline.decode_routes = options.decode_routes;
  pipeline.abort_on_path_suffix = options.abort_on_path_suffix;
  return pipeline;
}

Status Closed() { return {StatusCode::kShuttingDown, "The core is closed."}; }

}  // namespace

Result<std::unique_ptr<Core>> Core::Open(const CoreOptions& options,
                                         Scheduler::OnResult on_result) {
  size_t gpus = 0;
  if (options.device != "cpu") {
    const auto usable = UsableGpus();
    if (usable.ok()) {
      gpus = 1;
    } else if (options.device == "cuda") {
      return usable.status();
    }
  }
  const Status decoders = InitDecoders();
  if (!decoders.ok()) return decoders;
  auto files = RootedFiles::Open(options.roots, options.max_file_bytes);
  if (!files.ok()) return files.status();
  auto marker = CrashMarker::Open(options.crash_marker_path);
  if (!marker.ok()) return marker.status();
  return std::unique_ptr<Core>(
      new Core(options, gpus, *std::move(marker), *std::move(files), std::move(on_result)));
}

Core::Core(const CoreOptions& options, size_t gpus, std::unique_ptr<CrashMarker> marker,
           RootedFiles files, Scheduler::OnResult on_result)
    : options_(options),
      gpus_(gpus),
      schedule_(Schedule(options.threads, gpus, options.look_ahead_bytes)),
      marker_(std::move(marker)),
      pipeline_(std::move(files), Pipeline(options, gpus, schedule_.ReadAhead())),
      scheduler_(schedule_, pipeline_, *marker_, std::move(on_result)) {
  // Images need a model, and models come after it on the same thread.
  if (decoders_starting()) loader_.Post([this] { StartDecoders(); });
}

Core::~Core() { Close(); }

void Core::StartDecoders() {
  decoders_ = pipeline_.StartDecoders(kMostCalibrationMs);
  decoders_started_ = true;
}

bool Core::decoders_starting() const {
  return !decoders_started_ && (gpus_ > 0 || !options_.decode_routes.empty());
}

std::vector<RouteStats> Core::decode_routes() const {
  if (decoders_starting()) return {};
  return pipeline_.decode_routes();
}

std::vector<std::string> Core::missing_decode_routes() const {
  if (decoders_starting()) return {};
  return pipeline_.missing_routes();
}

void Core::LoadModel(std::string path, OnModel on_model) {
  auto shared = std::make_shared<OnModel>(std::move(on_model));
  const bool posted =
      loader_.Post([this, path = std::move(path), shared] { (*shared)(Load(path)); });
  if (!posted) (*shared)(Closed());
}

Result<std::unique_ptr<Engine>> Core::LoadEngine(const std::string& path) {
  if (gpus_ > 0) {
    GpuEngineOptions gpu_options;
    gpu_options.cache_folder = options_.engine_cache;
    gpu_options.slots = kSlotsPerGpu;
    const auto usable = UsableGpus();
    if (!usable.ok()) return usable.status();
    gpu_options.gpu = usable->front().index;
    auto engine = LoadGpuEngine(path, gpu_options, [this](double share) {
      build_share_ = share;
      return !closing_;
    });
    build_share_ = -1;
    return engine;
  }
  EngineOptions engine_options;
  engine_options.precision = options_.precision;
  engine_options.threads = options_.threads;
  engine_options.sync = schedule_.sync;
  engine_options.async = schedule_.async;
  engine_options.async_yields = options_.async_yields;
  engine_options.rectangles = options_.rectangles;
  engine_options.idle_inputs = size_t{2} * static_cast<size_t>(options_.threads) + 2;
  return LoadCpuEngine(path, engine_options);
}

Result<LoadedModel> Core::Load(const std::string& path) {
  if (!decoders_.ok()) return decoders_;
  auto engine = LoadEngine(path);
  if (!engine.ok()) return engine.status();
  const std::lock_guard lock(mutex_);
  LoadedModel loaded;
  loaded.id = next_model_++;
  loaded.info = (*engine)->info();
  models_[loaded.id] = *std::move(engine);
  return loaded;
}

void Core::UnloadModel(uint32_t id) {
  std::shared_ptr<Engine> freed;  // outside the lock
  const std::lock_guard lock(mutex_);
  const auto found = models_.find(id);
  if (found == models_.end()) return;
  freed = std::move(found->second);
  models_.erase(found);
}

std::shared_ptr<Engine> Core::FindModel(uint32_t id) const {
  const std::lock_guard lock(mutex_);
  const auto found = models_.find(id);
  return found == models_.end() ? nullptr : found->second;
}

std::vector<DeviceStatus> Core::devices(uint32_t id) {
  const auto engine = FindModel(id);
  return engine ? scheduler_.devices(engine) : std::vector<DeviceStatus>();
}

void Core::JudgeDevice(uint32_t id, int index, bool right) {
  const auto engine = FindModel(id);
  if (engine) scheduler_.JudgeDevice(engine, index, right);
}

void Core::MeasureSlice(uint32_t id, int batch, int rounds, OnSliceTimes on_times) {
  auto shared = std::make_shared<OnSliceTimes>(std::move(on_times));
  const bool posted = loader_.Post([this, id, batch, rounds, shared] {
    const auto engine = FindModel(id);
    (*shared)(engine ? engine->Measure(batch, rounds)
                     : Status(StatusCode::kUnknownModel, "There is no such model."));
  });
  if (!posted) (*shared)(Closed());
}

void Core::ReadFile(std::string path, OnBytes on_bytes) {
  pipeline_.ReadFile({std::move(path), {}, std::move(on_bytes)});
}

void Core::Close() {
  closing_ = true;
  scheduler_.Close();
  loader_.Stop();
  pipeline_.CloseFiles();
}

}  // namespace lattice
