#include "native/cpu/cpu_engine.h"

#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "native/base/stopwatch.h"
#include "native/cpu/openvino_network.h"
#include "native/engine/block_pool.h"
#include "native/letterbox/letterbox.h"

namespace lattice {
namespace {

// An RGB photo of 12 megapixels, or six of 2. More makes the process no faster with photos of one
// size, and stays resident.
constexpr size_t kMostIdleBytes = size_t{40} << 20;
// The allocator itself keeps smaller blocks, as InitDecoders has told it.
constexpr size_t kSmallestBytes = size_t{1} << 20;

// Decoded pixels. Never destroyed: decode threads may use it while the process exits.
BlockPool& PixelPool() {
  static auto* pool =
      new BlockPool({.most_idle_bytes = kMostIdleBytes, .smallest = kSmallestBytes});
  return *pool;
}

// Takes the model's own input; every smaller one has as much, so that any block serves any image.
size_t InputBytes(const ModelInfo& info) {
  return size_t{3} * static_cast<size_t>(info.input_width) *
         static_cast<size_t>(info.input_height) * (info.byte_input ? 1 : sizeof(float));
}

// Memory of a network's input, from the engine's pool.
class InputMemory {
 public:
  InputMemory(BlockPool& pool, size_t bytes)
      : memory_(pool.allocate(bytes), Deleter{&pool, bytes}) {}
  void* data() const { return memory_.get(); }
  size_t bytes() const { return memory_.get_deleter().bytes; }

 private:
  struct Deleter {
    BlockPool* pool;
    size_t bytes;
    void operator()(void* memory) const { pool->deallocate(memory, bytes); }
  };
  std::unique_ptr<void, Deleter> memory_;
};

struct CpuInput final : EngineInput {
  CpuInput(InputMemory own, InputSize of) : memory(std::move(own)), size(of) {}
  size_t pixel_bytes() const override { return memory.bytes(); }

  InputMemory memory;
  InputSize size;
  LetterboxTransform transform;
};

// Detect needs this of a slot's last batch.
struct LastBatch {
  std::vector<NetworkItem> outputs;
  std::vector<EngineItem> items;
};

class CpuEngine final : public Engine {
 public:
  CpuEngine(std::unique_ptr<OpenVinoNetwork> network, size_t idle_inputs)
      : network_(std::move(network)),
        inputs_({.most_idle_bytes = idle_inputs * InputBytes(network_->info())}),
        sync_(static_cast<size_t>(network_->slots(WorkClass::kSync))),
        async_(static_cast<size_t>(network_->slots(WorkClass::kAsync))) {}

  const ModelInfo& info() const override { return network_->info(); }
  LoadedBatches batches() const override { return {network_->memory_bytes(), {}}; }
  int slots(WorkClass work_class) const override { return network_->slots(work_class); }
  int wide_slots(WorkClass work_class) const override { return network_->wide_slots(work_class); }
  int max_batch(WorkClass /*work_class*/) const override { return network_->max_batch(); }

  size_t ExpectedBytes(const EncodedImage& encoded, const DecodeLimits& limits) const override {
    return ExpectedPixelBytes(encoded, limits, FastestLayout());
  }

  Result<std::unique_ptr<EngineInput>> Take(const EncodedImage& encoded,
                                            const DecodeLimits& limits) override {
    Stopwatch watch;
    auto image = Decode(encoded.bytes, limits, &PixelPool(), FastestLayout());
    if (!image.ok()) return image.status();
    const double decode_ms = watch.Lap();
    auto input = InputOf(*image);
    if (input.ok()) {
      (*input)->decoded_by = DecodedBy::kCpu;
      (*input)->decode_ms = decode_ms;
    }
    return input;
  }

  Result<EngineInputs> Take(Image picture, std::span<const Rect> parts) override {
    EngineInputs inputs;
    for (const Rect& part : parts) {
      auto input = InputOf(PictureView(picture).Part(part));
      if (!input.ok()) return input.status();
      inputs.push_back(*std::move(input));
    }
    return inputs;
  }

  std::pmr::memory_resource& pixel_memory() override { return PixelPool(); }

  Status Run(WorkClass work_class, int slot, Width width,
             std::span<const EngineItem> items) override {
    LastBatch& last = Last(work_class, slot);
    try {
      last.items.assign(items.begin(), items.end());
      last.outputs.clear();
      for (const EngineItem& item : items) {
        last.outputs.push_back({InputOf(item).memory.data(), InputOf(item).size});
      }
    } catch (const std::exception&) {
      return {StatusCode::kInternalError, "The batch could not be run: out of memory."};
    }
    return network_->Run(work_class, slot, width, last.outputs);
  }

  Detections Detect(WorkClass work_class, int slot, size_t item) override {
    const LastBatch& last = Last(work_class, slot);
    const EngineItem& asked = last.items[item];
    return FindBoxes(info().head, last.outputs[item].output, InputOf(asked).transform,
                     *asked.options);
  }

 private:
  Result<std::unique_ptr<EngineInput>> InputOf(const PictureView& image) {
    try {
      Stopwatch watch;
      const LetterboxTransform own = (info().stretched ? ComputeStretch : ComputeLetterbox)(
          image.width, image.height, info().input_width, info().input_height);
      const InputSize size = SizeFor(own);
      auto input = std::make_unique<CpuInput>(InputMemory(inputs_, InputBytes(info())), size);
      input->transform = CentredIn(own, size.width, size.height);
      if (info().byte_input) {
        Letterbox(image, input->transform, size.width, size.height,
                  static_cast<uint8_t*>(input->memory.data()));
      } else {
        Letterbox(image, input->transform, size.width, size.height,
                  static_cast<float*>(input->memory.data()));
      }
      input->width = image.width;
      input->height = image.height;
      input->preprocess_ms = watch.Lap();
      return std::unique_ptr<EngineInput>(std::move(input));
    } catch (const std::exception&) {
      return Status(StatusCode::kInternalError, "The image could not be prepared: out of memory.");
    }
  }

  static const CpuInput& InputOf(const EngineItem& item) {
    return static_cast<const CpuInput&>(*item.input);
  }
  LastBatch& Last(WorkClass work_class, int slot) {
    return (work_class == WorkClass::kSync ? sync_ : async_)[static_cast<size_t>(slot)];
  }

  // The smallest input that holds the image as large as the model's own does.
  InputSize SizeFor(const LetterboxTransform& own) const {
    const ModelInfo& model = info();
    for (const InputSize& size : model.rectangles) {
      if (own.resized_width <= size.width && own.resized_height <= size.height) return size;
    }
    return {model.input_width, model.input_height};
  }

  const std::unique_ptr<OpenVinoNetwork> network_;
  BlockPool inputs_;
  std::vector<LastBatch> sync_;
  std::vector<LastBatch> async_;
};

}  // namespace

Result<std::unique_ptr<Engine>> LoadCpuEngine(const std::string& path,
                                              const EngineOptions& options) {
  auto network = OpenVinoNetwork::Load(path, options);
  if (!network.ok()) return network.status();
  return std::unique_ptr<Engine>(
      std::make_unique<CpuEngine>(*std::move(network), options.idle_inputs));
}

}  // namespace lattice
