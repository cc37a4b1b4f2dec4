#include "native/gpu/tensorrt/tensorrt_builder.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "native/gpu/tensorrt/build_progress.h"
#include "native/gpu/tensorrt/tensorrt_logger.h"

namespace lattice {
namespace {

using nvinfer1::Dims;

// Weights and activations of every model here fit; a tactic that wants more is rarely the best.
constexpr size_t kWorkspaceBytes = size_t{2} << 30;

// TensorRT calls it on several threads at once.
class Monitor final : public nvinfer1::IProgressMonitor {
 public:
  explicit Monitor(const OnEngineBuild& on_build) : on_build_(on_build) {}

  void phaseStart(const char* phase, const char* parent, int32_t steps) noexcept override {
    progress_.Start(phase, parent == nullptr ? "" : parent, steps);
  }
  bool stepComplete(const char* phase, int32_t step) noexcept override {
    progress_.FinishStep(phase, step);
    const std::lock_guard lock(asking_);
    if (!gave_up_ && on_build_ && !on_build_(progress_.share())) gave_up_ = true;
    return !gave_up_;
  }
  void phaseFinish(const char* phase) noexcept override { progress_.Finish(phase); }

  bool gave_up() const { return gave_up_; }

 private:
  const OnEngineBuild& on_build_;
  BuildProgress progress_;
  std::mutex asking_;
  std::atomic<bool> gave_up_ = false;
};

Status Refused(const std::string& what) {
  return TensorRtLogger::Get().Failure(StatusCode::kInvalidModel, what);
}

// The parser does not log its errors for a model in memory, so they are read from it.
Status ParseFailure(const nvonnxparser::IParser& parser) {
  constexpr char kWhat[] = "TensorRT cannot parse the model";
  constexpr size_t kLongest = 300;
  const auto* error = parser.getNbErrors() > 0 ? parser.getError(0) : nullptr;
  if (error == nullptr) return Refused(kWhat);
  const auto text = [](const char* words) { return std::string(words == nullptr ? "" : words); };
  const std::string op = text(error->nodeOperator());
  const std::string at = op.empty() ? "" : op + " '" + text(error->nodeName()) + "': ";
  return {StatusCode::kInvalidModel, kWhat + (": " + at + text(error->desc())).substr(0, kLongest) +
                                         " Export it with nms=False, in FP32 or FP16."};
}

nvinfer1::NetworkDefinitionCreationFlags NetworkFlags() {
#if NV_TENSORRT_MAJOR >= 11
  return 0;  // always strongly typed
#else
  return 1U << static_cast<uint32_t>(nvinfer1::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED);
#endif
}

// Adds a profile for exactly this batch: TensorRT chooses the tactics of a profile for its optimum.
Status AddProfile(nvinfer1::IBuilder& builder, nvinfer1::IBuilderConfig& config,
                  const nvinfer1::INetworkDefinition& network, const ModelInfo& model, int batch) {
  if (network.getNbInputs() != 1) return Refused("The network needs exactly one input");
  const char* input = network.getInput(0)->getName();
  nvinfer1::IOptimizationProfile* profile = builder.createOptimizationProfile();
  if (profile == nullptr) return Refused("TensorRT gave no optimization profile");
  const nvinfer1::Dims4 shape(batch, 3, model.input_height, model.input_width);
  for (const auto selector :
       {nvinfer1::OptProfileSelector::kMIN, nvinfer1::OptProfileSelector::kOPT,
        nvinfer1::OptProfileSelector::kMAX}) {
    if (!profile->setDimensions(input, selector, shape)) {
      return Refused("TensorRT refused a batch of " + std::to_string(batch));
    }
  }
  if (config.addOptimizationProfile(profile) < 0) {
    return Refused("TensorRT refused the profile of a batch of " + std::to_string(batch));
  }
  return {};
}

std::vector<char> Copied(nvinfer1::IHostMemory* memory) {
  const std::unique_ptr<nvinfer1::IHostMemory> owned(memory);
  if (!owned) return {};
  const auto* bytes = static_cast<const char*>(owned->data());
  return {bytes, bytes + owned->size()};
}

}  // namespace

Result<std::vector<char>> BuildTensorRtPlan(const TensorRtLibrary& library, const std::string& onnx,
                                            const ModelInfo& model, int batch,
                                            std::vector<char>* timings,
                                            const OnEngineBuild& on_build) {
  Monitor monitor(on_build);  // outlives all TensorRT objects
  auto builder = library.CreateBuilder();
  if (!builder.ok()) return builder.status();
  const std::unique_ptr<nvinfer1::INetworkDefinition> network(
      (*builder)->createNetworkV2(NetworkFlags()));
  const std::unique_ptr<nvinfer1::IBuilderConfig> config((*builder)->createBuilderConfig());
  if (!network || !config) return Refused("TensorRT gave no network to fill");
  auto parser = library.CreateParser(*network);
  if (!parser.ok()) return parser.status();
  if (!(*parser)->parse(onnx.data(), onnx.size())) return ParseFailure(**parser);
  (void)(*builder)->setMaxThreads(
      static_cast<int32_t>(std::max(1U, std::thread::hardware_concurrency())));
  config->setMemoryPoolLimit(nvinfer1::MemoryPoolType::kWORKSPACE, kWorkspaceBytes);
  config->setBuilderOptimizationLevel(kBuilderLevel);
  // A whole network is in FP32 for its box decode, which adds distances with a convolution: there
  // TF32 has no more bits than FP16.
  config->clearFlag(nvinfer1::BuilderFlag::kTF32);
  // TensorRT ignores a timing cache that does not fit.
  const std::unique_ptr<nvinfer1::ITimingCache> cache(
      config->createTimingCache(timings->data(), timings->size()));
  if (cache) (void)config->setTimingCache(*cache, false);
  const Status profile = AddProfile(**builder, *config, *network, model, batch);
  if (!profile.ok()) return profile;
  config->setProgressMonitor(&monitor);

  std::vector<char> plan = Copied((*builder)->buildSerializedNetwork(*network, *config));
  if (const nvinfer1::ITimingCache* measured = config->getTimingCache(); measured != nullptr) {
    *timings = Copied(measured->serialize());
  }
  if (monitor.gave_up()) return Status(StatusCode::kCancelled, "The build was cancelled.");
  if (plan.empty()) return Refused("TensorRT cannot build the model");
  // Errors of tactics that did not fit must not explain a later failure.
  (void)TensorRtLogger::Get().TakeError();
  return plan;
}

}  // namespace lattice
