#include "native/engine/openvino/cpu_engine.h"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "native/engine/input_buffers.h"
#include "native/engine/kept_pixels.h"
#include "native/engine/openvino/openvino_network.h"
#include "native/preprocess/letterbox.h"

namespace lattice {
namespace {

struct CpuInput final : EngineInput {
  size_t pixel_bytes() const override { return pixels.size() * sizeof(float); }

  InputBuffer pixels;
  LetterboxTransform transform;
  size_t network = 0;
};

// What a slot's last batch left behind.
struct LastBatch {
  std::vector<NetworkItem> outputs;
  std::vector<EngineItem> items;
};

// `loaded`: at the model's own input size first, then at the rectangles, the smallest first; all
// have the same slots. A model of a fixed batch has no rectangles, and any other one image a batch
// here: a batch needs one network.
class CpuEngine final : public Engine {
 public:
  CpuEngine(OpenVinoNetworks loaded, size_t idle_inputs)
      : networks_(std::move(loaded.networks)),
        info_(networks_[0]->info()),
        inputs_(InputBuffers::Create(idle_inputs * networks_.size())),
        sync_(static_cast<size_t>(networks_[0]->slots(WorkClass::kSync))),
        async_(static_cast<size_t>(networks_[0]->slots(WorkClass::kAsync))) {
    info_.without = std::move(loaded.without);
    info_.memory_bytes = loaded.memory_bytes;
    for (size_t i = 1; i < networks_.size(); ++i) {
      const ModelInfo& info = networks_[i]->info();
      info_.rectangles.push_back({info.input_width, info.input_height});
    }
  }

  const ModelInfo& info() const override { return info_; }
  int slots(WorkClass work_class) const override { return networks_[0]->slots(work_class); }
  int max_batch(WorkClass) const override { return networks_[0]->max_batch(); }

  std::pmr::memory_resource* pixel_memory() override { return &KeptPixels::Shared(); }
  PixelLayout pixel_layout() const override { return FastestLayout(); }

  Result<std::unique_ptr<EngineInput>> Prepare(Image image) override {
    try {
      auto input = std::make_unique<CpuInput>();
      input->network = NetworkFor(image);
      const ModelInfo& info = networks_[input->network]->info();
      const int width = info.input_width;
      const int height = info.input_height;
      input->pixels =
          inputs_->Take(size_t{3} * static_cast<size_t>(width) * static_cast<size_t>(height));
      input->transform = ComputeLetterbox(image.width, image.height, width, height);
      Letterbox(image, input->transform, width, height, input->pixels.data());
      return std::unique_ptr<EngineInput>(std::move(input));
    } catch (const std::exception&) {
      return Status(StatusCode::kInternalError, "The image could not be prepared: out of memory.");
    }
  }

  Status Run(WorkClass work_class, int slot, std::span<const EngineItem> items) override {
    LastBatch& last = Last(work_class, slot);
    try {
      last.items.assign(items.begin(), items.end());
      last.outputs.clear();
      for (const EngineItem& item : items) last.outputs.push_back({InputOf(item).pixels.data()});
    } catch (const std::exception&) {
      return {StatusCode::kInternalError, "The batch could not be run: out of memory."};
    }
    return networks_[InputOf(items[0]).network]->Run(work_class, slot, last.outputs);
  }

  Detections Detect(WorkClass work_class, int slot, size_t item) override {
    const LastBatch& last = Last(work_class, slot);
    const EngineItem& asked = last.items[item];
    const ModelInfo& info = networks_[InputOf(asked).network]->info();
    return DecodeDetections(last.outputs[item].output, static_cast<int>(info.names.size()),
                            info.anchors, InputOf(asked).transform, *asked.options);
  }

 private:
  static const CpuInput& InputOf(const EngineItem& item) {
    return static_cast<const CpuInput&>(*item.input);
  }
  LastBatch& Last(WorkClass work_class, int slot) {
    return (work_class == WorkClass::kSync ? sync_ : async_)[static_cast<size_t>(slot)];
  }

  // The smallest that the image lies in as large as in the model's own input.
  size_t NetworkFor(const Image& image) const {
    const LetterboxTransform own =
        ComputeLetterbox(image.width, image.height, info_.input_width, info_.input_height);
    for (size_t i = 1; i < networks_.size(); ++i) {
      const ModelInfo& info = networks_[i]->info();
      const LetterboxTransform here =
          ComputeLetterbox(image.width, image.height, info.input_width, info.input_height);
      if (here.resized_width == own.resized_width && here.resized_height == own.resized_height) {
        return i;
      }
    }
    return 0;
  }

  const std::vector<std::unique_ptr<OpenVinoNetwork>> networks_;
  ModelInfo info_;
  const std::shared_ptr<InputBuffers> inputs_;
  std::vector<LastBatch> sync_;
  std::vector<LastBatch> async_;
};

// Each once, the smallest first.
std::vector<InputSize> SmallestFirst(const std::vector<InputSize>& rectangles) {
  std::vector<InputSize> sizes;
  for (const InputSize& size : rectangles) {
    if (std::find(sizes.begin(), sizes.end(), size) == sizes.end()) sizes.push_back(size);
  }
  std::stable_sort(sizes.begin(), sizes.end(),
                   [](const InputSize& a, const InputSize& b) { return a.area() < b.area(); });
  return sizes;
}

}  // namespace

Result<std::unique_ptr<Engine>> LoadCpuEngine(const std::string& path,
                                              const EngineOptions& options) {
  EngineOptions ordered = options;
  ordered.rectangles = SmallestFirst(options.rectangles);
  auto loaded = OpenVinoNetwork::Load(path, ordered);
  if (!loaded.ok()) return loaded.status();
  return std::unique_ptr<Engine>(
      std::make_unique<CpuEngine>(*std::move(loaded), options.idle_inputs));
}

}  // namespace lattice
