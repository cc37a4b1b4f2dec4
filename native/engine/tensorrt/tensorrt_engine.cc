#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "native/base/kept_forever.h"
#include "native/base/left_gpus.h"
#include "native/base/numa_nodes.h"
#include "native/cuda/gpu_device.h"
#include "native/engine/device_slots.h"
#include "native/engine/tensorrt/gpu_engine.h"
#include "native/engine/tensorrt/pinned_pixels.h"
#include "native/engine/tensorrt/tensorrt_builder.h"
#include "native/engine/tensorrt/tensorrt_library.h"
#include "native/engine/tensorrt/tensorrt_model.h"
#include "native/engine/tensorrt/tensorrt_slot.h"
#include "native/preprocess/letterbox.h"

namespace lattice {
namespace {

// Pixels in pinned memory or a GPU's and where they belong; the GPU does the rest.
struct GpuInput final : EngineInput {
  explicit GpuInput(Image image) : pixels(std::make_shared<const Image>(std::move(image))) {}
  explicit GpuInput(GpuImage image) : on_gpu(std::move(image)) {}
  size_t pixel_bytes() const override { return pixels ? pixels->data.size() : 0; }
  // A GPU that hangs may still read them, while another one runs the image.
  void Keep() const {
    KeepForever(pixels);
    KeepForever(on_gpu.memory);
  }

  std::shared_ptr<const Image> pixels;
  GpuImage on_gpu;
  LetterboxTransform transform;
};

Status Hanging() {
  return {StatusCode::kGpuLost, "The GPU hangs and is lost to this process. Restart the service."};
}

struct ClassSlots {
  DeviceSlots<TensorRtSlot> slots;
  int most = 1;                                // images of a slice
  std::vector<std::vector<Detections>> found;  // in each slot's last slice
};

// Members end in the reverse order: a runtime has to outlive its engine.
struct LoadedPlan {
  std::unique_ptr<nvinfer1::IRuntime> runtime;
  std::unique_ptr<nvinfer1::ICudaEngine> engine;
};

using NewSlots = std::vector<std::unique_ptr<TensorRtSlot>>;

class TensorRtEngine final : public Engine {
 public:
  explicit TensorRtEngine(Clock::duration patience) : patience_(patience) {}
  ~TensorRtEngine() override {
    // Slots of a lost GPU are never freed, so neither is what they use.
    for (size_t i = 0; i < engines_.size(); ++i) {
      if (!sync_.slots.kept(i) && !async_.slots.kept(i)) continue;
      KeepForever(std::move(engines_[i]));
      KeepForever(std::move(runtimes_[i]));
    }
  }

  // Before the first Run, with this GPU as the thread's current one. The first one's model is the
  // engine's. Adds nothing where it fails.
  Status AddGpu(const GpuDevice& gpu, const ModelInfo& model, LoadedPlan plan,
                const GpuEngineOptions& options) {
    if (!has_gpu()) {
      info_ = model;
      info_.device = gpu.name;
      info_.precision = "fp16";
    }
    const std::vector<int> buckets = BucketsOf(info_);
    TensorRtSlotOptions sync{buckets, Stream::Priority::kHigh, Event::WaitMode::kSpin,
                             options.patience};
    std::erase_if(sync.buckets,
                  [&](int batch) { return batch > options.most_sync && batch != buckets.front(); });
    const TensorRtSlotOptions async{buckets, Stream::Priority::kLow, Event::WaitMode::kBlock,
                                    options.patience};
    NewSlots sync_slots;
    NewSlots async_slots;
    const Status made =
        InOrder([&] { return MakeSlots(*plan.engine, sync, options.slots, &sync_slots); },
                [&] { return MakeSlots(*plan.engine, async, options.slots, &async_slots); });
    if (made.code() == StatusCode::kGpuLost) {
      for (auto* slots : {&sync_slots, &async_slots}) {
        for (auto& slot : *slots) KeepForever(std::move(slot));
      }
      KeepForever(std::move(plan.engine));
      KeepForever(std::move(plan.runtime));
    }
    if (!made.ok()) return made;
    runtimes_.push_back(std::move(plan.runtime));
    engines_.push_back(std::move(plan.engine));
    sync_.most = sync.buckets.back();
    async_.most = async.buckets.back();
    AddSlots(gpu, std::move(sync_slots), std::move(async_slots), false);
    return {};
  }

  // A GPU that was lost before this model came: it keeps its place among the devices.
  void AddLostGpu(const GpuDevice& gpu, const GpuEngineOptions& options) {
    const auto count = static_cast<size_t>(options.slots);
    runtimes_.push_back(nullptr);
    engines_.push_back(nullptr);
    AddSlots(gpu, NewSlots(count), NewSlots(count), true);
  }

  bool has_gpu() const {
    return std::any_of(engines_.begin(), engines_.end(),
                       [](const auto& engine) { return engine != nullptr; });
  }

  // Of one more GPU: the fullest counts.
  void TookMemory(size_t bytes) { info_.memory_bytes = std::max(info_.memory_bytes, bytes); }

  const ModelInfo& info() const override { return info_; }
  int slots(WorkClass work_class) const override {
    return static_cast<int>(At(work_class).slots.size());
  }
  int max_batch(WorkClass work_class) const override { return At(work_class).most; }
  // One patience for the GPU's work, and as much again for the calls around it.
  std::optional<Clock::duration> longest_run() const override { return 2 * patience_; }
  std::pmr::memory_resource* pixel_memory() override { return &PinnedPixels::Shared(); }
  // Half the bytes to copy, and the kernel converts only what it samples.
  PixelLayout pixel_layout() const override { return PixelLayout::kYuv420; }

  Result<std::unique_ptr<EngineInput>> Prepare(Image image) override {
    try {
      auto input = std::make_unique<GpuInput>(PinnedPixels::Shared().Pinned(std::move(image)));
      input->transform = ComputeLetterbox(input->pixels->width, input->pixels->height,
                                          info_.input_width, info_.input_height);
      return std::unique_ptr<EngineInput>(std::move(input));
    } catch (const std::exception&) {
      return Status(StatusCode::kInternalError, "The image could not be prepared: out of memory.");
    }
  }

  bool takes_gpu_images() const override { return true; }

  Result<std::unique_ptr<EngineInput>> PrepareOnGpu(GpuImage image) override {
    try {
      auto input = std::make_unique<GpuInput>(std::move(image));
      input->transform = ComputeLetterbox(input->on_gpu.width, input->on_gpu.height,
                                          info_.input_width, info_.input_height);
      return std::unique_ptr<EngineInput>(std::move(input));
    } catch (const std::exception&) {
      return Status(StatusCode::kInternalError, "The image could not be prepared: out of memory.");
    }
  }

  Status Run(WorkClass work_class, int slot, std::span<const EngineItem> items) override {
    try {
      std::vector<SlotImage> images;
      for (const EngineItem& item : items) {
        const auto& input = static_cast<const GpuInput&>(*item.input);
        const GpuImage* on_gpu = input.on_gpu.gpu < 0 ? nullptr : &input.on_gpu;
        images.push_back({input.pixels.get(), input.transform, item.options, on_gpu});
      }
      const auto number = static_cast<size_t>(slot);
      std::vector<Detections>* found = &At(work_class).found[number];
      return At(work_class).slots.Run(number, [&](int gpu, TensorRtSlot& there) {
        const Status current = UseGpu(gpu);
        if (!current.ok()) return current;
        Status ran = there.Run(images, found);
        if (ran.code() == StatusCode::kGpuLost && IsGpuLeft(gpu)) {
          for (const EngineItem& item : items) static_cast<const GpuInput&>(*item.input).Keep();
        }
        return ran;
      });
    } catch (const std::exception&) {
      return {StatusCode::kInternalError, "The batch could not be run: out of memory."};
    }
  }

  Detections Detect(WorkClass work_class, int slot, size_t item) override {
    return std::move(At(work_class).found[static_cast<size_t>(slot)][item]);
  }

 private:
  Status MakeSlots(nvinfer1::ICudaEngine& engine, const TensorRtSlotOptions& options, int count,
                   NewSlots* slots) {
    for (int i = 0; i < count; ++i) {
      auto slot = TensorRtSlot::Create(engine, info_, options);
      if (!slot.ok()) return slot.status();
      slots->push_back(*std::move(slot));
    }
    return {};
  }

  void AddSlots(const GpuDevice& gpu, NewSlots sync, NewSlots async, bool lost) {
    for (const auto& [work_class, slots] : {std::pair(&sync_, &sync), std::pair(&async_, &async)}) {
      work_class->slots.AddDevice(gpu.index, lost);
      for (auto& slot : *slots) work_class->slots.Add(std::move(slot));
      work_class->found.resize(work_class->slots.size());
    }
  }

  ClassSlots& At(WorkClass work_class) { return work_class == WorkClass::kSync ? sync_ : async_; }
  const ClassSlots& At(WorkClass work_class) const {
    return work_class == WorkClass::kSync ? sync_ : async_;
  }

  const Clock::duration patience_;
  ModelInfo info_;
  // One of each a device, null where it was lost before.
  std::vector<std::unique_ptr<nvinfer1::IRuntime>> runtimes_;    // before their engines
  std::vector<std::unique_ptr<nvinfer1::ICudaEngine>> engines_;  // before the slots that use them
  ClassSlots sync_;
  ClassSlots async_;
};

Result<std::vector<GpuDevice>> Gpus() {
  auto gpus = ListGpus();
  if (!gpus.ok()) return gpus.status();
  std::string reasons;
  std::vector<GpuDevice> usable;
  for (GpuDevice& gpu : *gpus) {
    if (gpu.unusable.empty()) {
      usable.push_back(std::move(gpu));
    } else {
      reasons += (reasons.empty() ? "" : " ") + gpu.unusable;
    }
  }
  if (usable.empty()) return Status(StatusCode::kGpuUnavailable, reasons);
  return usable;
}

// Part `index` of `count` equal ones of the whole progress.
OnEngineBuild PartOf(const OnEngineBuild& whole, size_t index, size_t count) {
  if (!whole) return nullptr;
  return [&whole, index, count](double share) {
    return whole((static_cast<double>(index) + share) / static_cast<double>(count));
  };
}

// `gpu` is the thread's current one.
Status LoadHere(const GpuDevice& gpu, const TensorRtLibrary& library,
                const GpuEngineOptions& options, const OnEngineBuild& on_build,
                TensorRtModel* model, TensorRtEngine* engine) {
  const size_t free_before = FreeGpuBytes();
  auto runtime = library.CreateRuntime();
  if (!runtime.ok()) return runtime.status();
  LoadedPlan plan{*std::move(runtime), nullptr};
  auto opened = OpenTensorRtModel(library, *plan.runtime, gpu, options, on_build, model);
  if (!opened.ok()) return opened.status();
  plan.engine = *std::move(opened);
  const Status added = engine->AddGpu(gpu, model->info, std::move(plan), options);
  if (added.ok()) engine->TookMemory(free_before - std::min(free_before, FreeGpuBytes()));
  return added;
}

Status LoadOnto(const GpuDevice& gpu, const TensorRtLibrary& library,
                const GpuEngineOptions& options, const OnEngineBuild& on_build,
                TensorRtModel* model, TensorRtEngine* engine) {
  if (IsGpuLeft(gpu.index)) return Hanging();
  const Status current = UseGpu(gpu.index);
  if (!current.ok()) return current;
  const Status loaded = LoadHere(gpu, library, options, on_build, model, engine);
  if (loaded.ok()) return loaded;
  // On a GPU that has faulted TensorRT only says that something failed.
  const Status healthy = CheckGpu();
  return healthy.ok() ? loaded : healthy;
}

}  // namespace

std::string GpuBuild() {
  const int cuda = CUDART_VERSION;
  std::string built = "CUDA " + std::to_string(cuda / 1000) + "." +
                      std::to_string(cuda % 1000 / 10) + ", TensorRT " + TensorRtMajor();
#ifdef LATTICE_SIMULATED_GPU
  built += ", both played on the host";
#endif
  return built;
}

Result<std::vector<std::string>> UsableGpus() {
  const auto gpus = Gpus();
  if (!gpus.ok()) return gpus.status();
  const auto library = TensorRtLibrary::Open();
  if (!library.ok()) return library.status();
  std::vector<std::string> names;
  for (const GpuDevice& gpu : *gpus) names.push_back(gpu.name);
  return names;
}

Result<std::vector<GpuIdentity>> IdentifyUsableGpus() {
  const auto gpus = Gpus();
  if (!gpus.ok()) return gpus.status();
  const NumaNodes numa;
  std::vector<GpuIdentity> identities;
  for (const GpuDevice& gpu : *gpus) {
    identities.push_back({gpu.index, gpu.name, gpu.uuid, gpu.bus_id, numa.OfPciDevice(gpu.bus_id),
                          gpu.memory_bytes});
  }
  return identities;
}

Result<std::unique_ptr<Engine>> LoadGpuEngine(const std::string& path,
                                              const GpuEngineOptions& options,
                                              const OnEngineBuild& on_build) {
  const auto gpus = Gpus();
  if (!gpus.ok()) return gpus.status();
  const auto library = TensorRtLibrary::Open();
  if (!library.ok()) return library.status();
  auto model = ReadTensorRtModel(path);
  if (!model.ok()) return model.status();
  auto engine = std::make_unique<TensorRtEngine>(options.patience);
  Status lost;
  for (size_t i = 0; i < gpus->size(); ++i) {
    const Status added = LoadOnto((*gpus)[i], **library, options, PartOf(on_build, i, gpus->size()),
                                  &*model, engine.get());
    if (added.code() == StatusCode::kGpuLost) {
      engine->AddLostGpu((*gpus)[i], options);
      lost = added;
    } else if (!added.ok()) {
      return added;
    }
  }
  if (!engine->has_gpu()) return lost;
  return std::unique_ptr<Engine>(std::move(engine));
}

}  // namespace lattice
