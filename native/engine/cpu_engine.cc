#include "native/engine/cpu_engine.h"

#include <exception>
#include <utility>
#include <vector>

#include "native/engine/input_buffers.h"
#include "native/engine/kept_pixels.h"
#include "native/engine/openvino_network.h"
#include "native/preprocess/letterbox.h"

namespace lattice {
namespace {

struct CpuInput final : EngineInput {
  InputBuffer pixels;
  LetterboxTransform transform;
};

// What a slot's last slice left behind.
struct LastSlice {
  std::vector<NetworkItem> outputs;
  std::vector<EngineItem> items;
};

class CpuEngine final : public Engine {
 public:
  CpuEngine(std::unique_ptr<OpenVinoNetwork> network, size_t idle_inputs)
      : network_(std::move(network)),
        inputs_(InputBuffers::Create(idle_inputs)),
        sync_(static_cast<size_t>(network_->slots(Lane::kSync))),
        async_(static_cast<size_t>(network_->slots(Lane::kAsync))) {}

  const ModelInfo& info() const override { return network_->info(); }
  int slots(Lane lane) const override { return network_->slots(lane); }
  int max_batch(Lane) const override { return network_->max_batch(); }

  std::pmr::memory_resource* pixel_memory() override { return &KeptPixels::Shared(); }
  PixelLayout pixel_layout() const override { return FastestLayout(); }

  Result<std::unique_ptr<EngineInput>> Prepare(Image image) override {
    try {
      const int width = info().input_width;
      const int height = info().input_height;
      auto input = std::make_unique<CpuInput>();
      input->pixels =
          inputs_->Take(size_t{3} * static_cast<size_t>(width) * static_cast<size_t>(height));
      input->transform = ComputeLetterbox(image.width, image.height, width, height);
      Letterbox(image, input->transform, width, height, input->pixels.data());
      return std::unique_ptr<EngineInput>(std::move(input));
    } catch (const std::exception&) {
      return Status(StatusCode::kInternalError, "The image could not be prepared: out of memory.");
    }
  }

  Status Run(Lane lane, int slot, std::span<const EngineItem> items) override {
    LastSlice& last = Last(lane, slot);
    try {
      last.items.assign(items.begin(), items.end());
      last.outputs.clear();
      for (const EngineItem& item : items) last.outputs.push_back({InputOf(item).pixels.data()});
    } catch (const std::exception&) {
      return {StatusCode::kInternalError, "The slice could not be run: out of memory."};
    }
    return network_->Run(lane, slot, last.outputs);
  }

  Detections Detect(Lane lane, int slot, size_t item) override {
    const LastSlice& last = Last(lane, slot);
    const EngineItem& asked = last.items[item];
    return DecodeDetections(last.outputs[item].output, static_cast<int>(info().names.size()),
                            info().anchors, InputOf(asked).transform, *asked.options);
  }

 private:
  static const CpuInput& InputOf(const EngineItem& item) {
    return static_cast<const CpuInput&>(*item.input);
  }
  LastSlice& Last(Lane lane, int slot) {
    return (lane == Lane::kSync ? sync_ : async_)[static_cast<size_t>(slot)];
  }

  const std::unique_ptr<OpenVinoNetwork> network_;
  const std::shared_ptr<InputBuffers> inputs_;
  std::vector<LastSlice> sync_;
  std::vector<LastSlice> async_;
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
