#include <algorithm>
#include <atomic>
#include <bit>
#include <exception>
#include <map>
#include <mutex>
#include <utility>

#include "native/engine/block_pool.h"
#include "native/gpu/cuda/gpu_device.h"
#include "native/gpu/cuda/pinned_memory.h"
#include "native/gpu/gpu_engine.h"
#include "native/gpu/jpeg/image_decoder.h"
#include "native/gpu/jpeg/photo_sides.h"
#include "native/gpu/tensorrt/opened_engine.h"
#include "native/gpu/tensorrt/tensorrt_library.h"
#include "native/gpu/tensorrt/tensorrt_slot.h"
#include "native/letterbox/letterbox.h"

namespace lattice {
namespace {

// Decoded pixels in pinned memory of the thread's current GPU. Never destroyed, since images may
// outlive every engine.
BlockPool& PixelPool(const GpuEngineOptions& options) {
  static auto* pool = new BlockPool(
      {.most_idle_bytes =
           std::min(options.most_idle_bytes, options.images() * std::bit_ceil(kLargePhoto.bytes())),
       .powers_of_two = true,
       .source = new PinnedMemory()});
  return *pool;
}

// The GPU does the rest: an input is its pixels and where they go.
struct GpuInput final : EngineInput {
  GpuInput(std::shared_ptr<const DecodedImage> of, const Rect& rect, const ModelInfo& model)
      : picture(std::move(of)),
        part(rect),
        transform((model.stretched ? ComputeStretch : ComputeLetterbox)(
            rect.width, rect.height, model.input_width, model.input_height)) {
    width = rect.width;
    height = rect.height;
    decoded_by = picture->by;
  }
  size_t pixel_bytes() const override { return picture->pixels.data.size() - shared_bytes; }

  // The picture in pinned memory or on the GPU; the inputs of its parts share it.
  const std::shared_ptr<const DecodedImage> picture;
  const Rect part;
  const LetterboxTransform transform;
};

Status OutOfMemory(const std::string& what) {
  return {StatusCode::kInternalError, what + ": out of memory."};
}

// `failed`, or kGpuLost: on a GPU that has faulted TensorRT only says that something failed, and
// memory only seems to be short.
Status UnlessLost(const Status& failed) {
  return InOrder([] { return CheckGpu(); }, [&] { return failed; });
}

struct EngineSlot {
  std::mutex mutex;  // held while a batch runs, so that a slot ends with its last batch
  std::unique_ptr<TensorRtSlot> slot;
  std::vector<Detections> found;  // by the last batch
};

struct ClassSlots {
  explicit ClassSlots(int count) : slots(static_cast<size_t>(count)) {}

  std::vector<EngineSlot> slots;
  std::atomic<int> most = 1;  // images of a batch
};

using FreshSlots = std::vector<std::unique_ptr<TensorRtSlot>>;

// An engine loads others with it, for other batch sizes.
struct Loading {
  GpuDevice gpu;
  const TensorRtLibrary& library;
  GpuEngineOptions options;
};

TensorRtModel On(const GpuDevice& gpu, TensorRtModel model) {
  model.info.device = gpu.name;
  model.info.precision = PrecisionOf(model);
  return model;
}

class TensorRtEngine final : public Engine {
 public:
  TensorRtEngine(const Loading& loading, TensorRtModel model,
                 std::unique_ptr<nvinfer1::IRuntime> runtime)
      : loading_(loading),
        decoder_(loading.options.decoder ? loading.options.decoder
                                         : std::make_shared<const ImageDecoder>()),
        model_(On(loading.gpu, std::move(model))),
        pixels_(PixelPool(loading.options)),
        runtime_(std::move(runtime)),
        sync_(loading.options.slots),
        async_(loading.options.slots) {
    for (const int batch : model_.buckets) {
      batches_.engines.push_back(
          {batch, false, EngineFile(loading.library, loading.gpu, batch, model_)});
    }
  }
  ~TensorRtEngine() override { (void)UseGpu(loading_.gpu.index); }

  // Adds the engine for the smallest batches before the first Run; `free_before` bytes of the GPU
  // were free before it.
  Status AddFirst(OpenedEngine opened, size_t free_before) {
    std::map<int, OpenedEngine> first;
    first.emplace(model_.buckets.front(), std::move(opened));
    return Add(std::move(first), free_before);
  }

  Status AddBatches(std::span<const int> batches, const OnEngineBuild& on_build) override {
    try {
      const Status current = UseGpu(loading_.gpu.index);
      if (!current.ok()) return current;
      const size_t free_before = FreeGpuBytes();
      auto opened = Open(batches, on_build);
      const Status added = opened.ok() ? Add(*std::move(opened), free_before) : opened.status();
      return added.ok() ? added : UnlessLost(added);
    } catch (const std::exception&) {
      return OutOfMemory("Batch sizes could not be added");
    }
  }

  const ModelInfo& info() const override { return model_.info; }
  LoadedBatches batches() const override { return batches_; }
  int wide_slots(WorkClass /*work_class*/) const override { return 1; }
  int slots(WorkClass work_class) const override {
    return static_cast<int>(At(work_class).slots.size());
  }
  int max_batch(WorkClass work_class) const override { return At(work_class).most; }

  // Planes are half the bytes of RGB to copy, and the kernel converts only the pixels that it
  // samples.
  size_t ExpectedBytes(const EncodedImage& encoded, const DecodeLimits& limits) const override {
    return ExpectedPixelBytes(encoded, limits, PixelLayout::kYuv420);
  }

  Result<std::unique_ptr<EngineInput>> Take(const EncodedImage& encoded,
                                            const DecodeLimits& limits) override {
    Stopwatch watch;
    auto image = decoder_->Decode(encoded, limits, &pixels_);
    if (!image.ok()) return Explained(image.status());
    const double decode_ms = watch.Lap();
    const Rect whole{0, 0, image->width(), image->height()};
    auto inputs = InputsOf(*std::move(image), {&whole, 1});
    if (!inputs.ok()) return inputs.status();
    (*inputs)[0]->decode_ms = decode_ms;
    return std::move((*inputs)[0]);
  }

  std::pmr::memory_resource& pixel_memory() override { return pixels_; }

  Result<EngineInputs> Take(Image picture, std::span<const Rect> parts) override {
    try {
      // Copied only where they are in other memory.
      ByteBuffer pinned(std::move(picture.data), &pixels_);
      return InputsOf(
          {{picture.width, picture.height, std::move(pinned), picture.layout, picture.orientation},
           {},
           DecodedBy::kNobody},
          parts);
    } catch (const std::exception&) {
      return Explained(OutOfMemory("The image could not be prepared"));
    }
  }

  Status Run(WorkClass work_class, int slot, Width /*width*/,
             std::span<const EngineItem> items) override {
    try {
      const WatchedCall watched("running a batch", loading_.options.longest_run);
      std::vector<SlotImage> images;
      for (const EngineItem& item : items) {
        const auto& input = static_cast<const GpuInput&>(*item.input);
        images.push_back({input.picture.get(), input.part, input.transform, item.options});
      }
      const Status current = UseGpu(loading_.gpu.index);
      if (!current.ok()) return current;
      EngineSlot& here = At(work_class).slots[static_cast<size_t>(slot)];
      const std::lock_guard lock(here.mutex);
      return here.slot->Run(images, &here.found);
    } catch (const std::exception&) {
      return OutOfMemory("The batch could not be run");
    }
  }

  Detections Detect(WorkClass work_class, int slot, size_t item) override {
    return std::move(At(work_class).slots[static_cast<size_t>(slot)].found[item]);
  }

 private:
  // The status of an image that was not taken. Only where memory was short it may be the GPU's
  // fault.
  Status Explained(const Status& failed) const {
    if (failed.code() != StatusCode::kOverloaded && failed.code() != StatusCode::kInternalError) {
      return failed;
    }
    const Status current = UseGpu(loading_.gpu.index);
    return current.code() == StatusCode::kGpuLost ? current : UnlessLost(failed);
  }

  Result<EngineInputs> InputsOf(DecodedImage decoded, std::span<const Rect> parts) const {
    try {
      const auto picture = std::make_shared<const DecodedImage>(std::move(decoded));
      EngineInputs inputs;
      for (const Rect& part : parts) {
        inputs.push_back(std::make_unique<GpuInput>(picture, part, model_.info));
        if (parts.size() > 1) inputs.back()->shared_bytes = picture->pixels.data.size();
      }
      return inputs;
    } catch (const std::exception&) {
      return OutOfMemory("The image could not be prepared");
    }
  }

  // Opens engines by batch size and leaves out those that are open already.
  Result<std::map<int, OpenedEngine>> Open(std::span<const int> batches,
                                           const OnEngineBuild& on_build) const {
    // A copy: batches run by the other one meanwhile.
    TensorRtModel model = model_;
    std::map<int, OpenedEngine> opened;
    for (const int batch : batches) {
      if (std::count(model_.buckets.begin(), model_.buckets.end(), batch) == 0) {
        return Status(StatusCode::kInternalError,
                      "The model has no batches of " + std::to_string(batch) + ".");
      }
      if (engines_.contains(batch)) continue;
      auto engine = OpenTensorRtModel(loading_.library, *runtime_, loading_.gpu, loading_.options,
                                      on_build, batch, &model);
      if (!engine.ok()) return engine.status();
      opened.emplace(batch, *std::move(engine));
    }
    return opened;
  }

  // Makes slots for these engines and those that are there, which then take the place of the
  // present ones: memory is shared by all batch sizes of a slot, and recorded in its graphs.
  Status Add(std::map<int, OpenedEngine> opened, size_t free_before) {
    std::vector<SizedEngine> all;
    for (const BatchEngine& each : batches_.engines) {
      const auto fresh = opened.find(each.batch);
      if (fresh != opened.end()) all.push_back({each.batch, fresh->second.engine.get()});
      if (each.is_loaded) all.push_back({each.batch, engines_.at(each.batch).engine.get()});
    }
    std::vector<SizedEngine> small = all;
    std::erase_if(small, [&](const SizedEngine& each) {
      return each.batch > loading_.options.most_sync && each.batch != all.front().batch;
    });
    auto sync = MakeSlots({small, Stream::Priority::kHigh, Event::WaitMode::kSpin});
    if (!sync.ok()) return sync.status();
    auto async = MakeSlots({all, Stream::Priority::kLow, Event::WaitMode::kBlock});
    if (!async.ok()) return async.status();
    Exchange(&*sync, small.back().batch, &sync_);
    Exchange(&*async, all.back().batch, &async_);
    for (BatchEngine& each : batches_.engines) {
      const auto fresh = opened.find(each.batch);
      if (fresh == opened.end()) continue;
      each.is_loaded = true;
      if (!fresh->second.is_kept) each.file.clear();
    }
    // Takes no memory, which might be short: the slots use them.
    engines_.merge(opened);
    sync->clear();
    async->clear();
    batches_.memory_bytes += free_before - std::min(free_before, FreeGpuBytes());
    return {};
  }

  Result<FreshSlots> MakeSlots(const TensorRtSlotOptions& options) const {
    FreshSlots slots;
    for (int i = 0; i < loading_.options.slots; ++i) {
      auto slot = TensorRtSlot::Create(model_, options);
      if (!slot.ok()) return slot.status();
      slots.push_back(*std::move(slot));
    }
    return slots;
  }

  // `fresh` then holds what was there before.
  static void Exchange(FreshSlots* fresh, int most, ClassSlots* slots) {
    for (size_t i = 0; i < fresh->size(); ++i) {
      const std::lock_guard lock(slots->slots[i].mutex);
      slots->slots[i].slot.swap((*fresh)[i]);
    }
    // Now that every slot has room for it.
    slots->most = most;
  }

  ClassSlots& At(WorkClass work_class) { return work_class == WorkClass::kSync ? sync_ : async_; }
  const ClassSlots& At(WorkClass work_class) const {
    return work_class == WorkClass::kSync ? sync_ : async_;
  }

  const Loading loading_;
  const std::shared_ptr<const ImageDecoder> decoder_;
  const TensorRtModel model_;
  LoadedBatches batches_;
  BlockPool& pixels_;
  // Destroyed in the reverse order: slots use the engines, which use the runtime.
  std::unique_ptr<nvinfer1::IRuntime> runtime_;
  std::map<int, OpenedEngine> engines_;  // by batch size
  ClassSlots sync_;
  ClassSlots async_;
};

GpuIdentity IdentityOf(const GpuDevice& gpu) {
  return {gpu.index, gpu.name, gpu.uuid, gpu.bus_id, NumaNodeOf(gpu.bus_id), gpu.memory_bytes};
}

Result<GpuDevice> FindGpu(int index) {
  auto gpus = ListGpus();
  if (!gpus.ok()) return gpus.status();
  if (index < 0 || static_cast<size_t>(index) >= gpus->size()) {
    return Status(StatusCode::kGpuUnavailable,
                  "There is no GPU " + std::to_string(index) + ": the NVIDIA driver shows " +
                      std::to_string(gpus->size()) + " to this process, counted from 0.");
  }
  GpuDevice& gpu = (*gpus)[static_cast<size_t>(index)];
  if (!gpu.unusable.empty()) return Status(StatusCode::kGpuUnavailable, gpu.unusable);
  return std::move(gpu);
}

// The GPU is the thread's current one.
Result<std::unique_ptr<Engine>> LoadHere(const Loading& loading, const std::string& path,
                                         const OnEngineBuild& on_build) {
  auto model = ReadTensorRtModel(path, loading.options.batches);
  if (!model.ok()) return model.status();
  const size_t free_before = FreeGpuBytes();
  auto runtime = loading.library.CreateRuntime();
  if (!runtime.ok()) return runtime.status();
  auto opened = OpenTensorRtModel(loading.library, **runtime, loading.gpu, loading.options,
                                  on_build, model->buckets.front(), &*model);
  if (!opened.ok()) return opened.status();
  auto engine = std::make_unique<TensorRtEngine>(loading, *std::move(model), *std::move(runtime));
  const Status added = engine->AddFirst(*std::move(opened), free_before);
  if (!added.ok()) return added;
  return std::unique_ptr<Engine>(std::move(engine));
}

}  // namespace

std::string GpuBuild() {
  const int cuda = CUDART_VERSION;
  std::string built = "CUDA " + std::to_string(cuda / 1000) + "." +
                      std::to_string(cuda % 1000 / 10) + ", TensorRT " + TensorRtMajor();
#ifdef LATTICE_SIMULATED_GPU
  built += ", both simulated on the host";
#endif
  return built;
}

Result<std::vector<GpuIdentity>> UsableGpus() {
  const auto gpus = ListGpus();
  if (!gpus.ok()) return gpus.status();
  std::string reasons;
  std::vector<GpuIdentity> usable;
  for (const GpuDevice& gpu : *gpus) {
    if (gpu.unusable.empty()) {
      usable.push_back(IdentityOf(gpu));
    } else {
      reasons += (reasons.empty() ? "" : " ") + gpu.unusable;
    }
  }
  if (usable.empty()) return Status(StatusCode::kGpuUnavailable, reasons);
  const auto library = TensorRtLibrary::Open();
  if (!library.ok()) return library.status();
  return usable;
}

Result<std::unique_ptr<Engine>> LoadGpuEngine(const std::string& path,
                                              const GpuEngineOptions& options,
                                              const OnEngineBuild& on_build) {
  const auto gpu = FindGpu(options.gpu);
  if (!gpu.ok()) return gpu.status();
  const auto library = TensorRtLibrary::Open();
  if (!library.ok()) return library.status();
  const Status current = UseGpu(gpu->index);
  if (!current.ok()) return current;
  auto loaded = LoadHere({*gpu, **library, options}, path, on_build);
  if (!loaded.ok()) return UnlessLost(loaded.status());
  return loaded;
}

}  // namespace lattice
