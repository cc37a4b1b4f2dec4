#include "native/engine/openvino/cpu_engine.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "native/engine/block_pool.h"
#include "native/engine/openvino/openvino_network.h"
#include "native/preprocess/letterbox.h"

namespace lattice {
namespace {

// A photo of 12 megapixels, or six of 2. More makes the process no faster with photos of one size,
// and stays resident.
constexpr size_t kMostIdlePixels = size_t{40} << 20;
// The allocator itself keeps smaller blocks.
constexpr size_t kSmallestPixels = size_t{1} << 20;

// Decoded pixels. Never destroyed, since images may outlive every engine.
BlockPool& PixelPool() {
  static auto* pool =
      new BlockPool({.most_idle_bytes = kMostIdlePixels, .smallest = kSmallestPixels});
  return *pool;
}

size_t InputBytes(const ModelInfo& info) {
  return size_t{3} * static_cast<size_t>(info.input_width) *
         static_cast<size_t>(info.input_height) * sizeof(float);
}

// The limit of idle inputs: `idle_inputs` per network.
size_t IdleInputBytes(const OpenVinoNetworks& loaded, size_t idle_inputs) {
  size_t bytes = 0;
  for (const auto& network : loaded.networks) bytes += idle_inputs * InputBytes(network->info());
  return bytes;
}

// Memory of a network's input, from the engine's pool.
class InputFloats {
 public:
  InputFloats(BlockPool& pool, size_t bytes)
      : memory_(static_cast<float*>(pool.allocate(bytes)), Deleter{&pool, bytes}) {}
  float* data() const { return memory_.get(); }
  size_t bytes() const { return memory_.get_deleter().bytes; }

 private:
  struct Deleter {
    BlockPool* pool;
    size_t bytes;
    void operator()(float* memory) const { pool->deallocate(memory, bytes); }
  };
  std::unique_ptr<float, Deleter> memory_;
};

struct CpuInput final : EngineInput {
  CpuInput(InputFloats memory, size_t index) : floats(std::move(memory)), network(index) {}
  size_t pixel_bytes() const override { return floats.bytes(); }

  InputFloats floats;
  LetterboxTransform transform;
  size_t network;
};

// What Detect needs of a slot's last batch.
struct LastBatch {
  std::vector<NetworkItem> outputs;
  std::vector<EngineItem> items;
};

// `loaded`: the network of the model's own input size first, then those of the rectangles, the
// smallest first; all have the same slots. A batch needs one network, so a model with rectangles
// has batches of one image; a model of a fixed batch has no rectangles.
class CpuEngine final : public Engine {
 public:
  CpuEngine(OpenVinoNetworks loaded, size_t idle_inputs)
      : inputs_({.most_idle_bytes = IdleInputBytes(loaded, idle_inputs)}),
        networks_(std::move(loaded.networks)),
        info_(networks_[0]->info()),
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

  std::pmr::memory_resource* pixel_memory() override { return &PixelPool(); }
  PixelLayout pixel_layout() const override { return FastestLayout(); }

  Result<std::unique_ptr<EngineInput>> Prepare(Image image) override {
    try {
      const size_t network = NetworkFor(image);
      const ModelInfo& info = networks_[network]->info();
      const int width = info.input_width;
      const int height = info.input_height;
      auto input = std::make_unique<CpuInput>(InputFloats(inputs_, InputBytes(info)), network);
      input->transform = ComputeLetterbox(image.width, image.height, width, height);
      Letterbox(image, input->transform, width, height, input->floats.data());
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
      for (const EngineItem& item : items) last.outputs.push_back({InputOf(item).floats.data()});
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

  // The smallest network whose input shows the image as large as the model's own input does.
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

  BlockPool inputs_;
  const std::vector<std::unique_ptr<OpenVinoNetwork>> networks_;
  ModelInfo info_;
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
