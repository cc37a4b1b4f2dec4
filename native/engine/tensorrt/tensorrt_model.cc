#include "native/engine/tensorrt/tensorrt_model.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <utility>
#include <vector>

#include "native/base/sha256.h"
#include "native/base/stopwatch.h"
#include "native/engine/tensorrt/gpu_network.h"
#include "native/engine/tensorrt/tensorrt_builder.h"
#include "native/engine/tensorrt/tensorrt_logger.h"
#include "native/engine_cache/engine_cache.h"
#include "native/onnx/model_description.h"
#include "native/onnx/model_file.h"
#include "native/onnx/onnx_metadata.h"
#include "native/onnx/onnx_reader.h"

namespace lattice {
namespace {

// Raised whenever the same file would become another network.
constexpr int kConversionVersion = 3;
// Longer than any build of another process that this one would wait for.
constexpr std::chrono::minutes kLongestBuild{60};

// Inputs of the network that are no weights: old files list those too.
std::vector<Shape> InputShapes(const OnnxModel& model) {
  std::vector<Shape> shapes;
  for (const OnnxValueInfo& input : model.graph.inputs) {
    const bool is_weight =
        std::any_of(model.graph.initializers.begin(), model.graph.initializers.end(),
                    [&](const OnnxTensor& tensor) { return tensor.name == input.name; });
    if (!is_weight) shapes.push_back(input.Shape());
  }
  return shapes;
}

EngineKey KeyOf(const TensorRtModel& model, const TensorRtLibrary& library, const GpuDevice& gpu) {
  EngineKey key;
  key.model_sha256 = model.sha256;
  key.tensorrt_version = library.version();
  key.gpu_name = gpu.name;
  key.sm_major = gpu.sm_major;
  key.sm_minor = gpu.sm_minor;
  key.precision = "fp16";
  key.buckets = BucketsOf(model.info);
  key.input_width = model.info.input_width;
  key.input_height = model.info.input_height;
  key.builder_level = kBuilderLevel;
  key.conversion_version = kConversionVersion;
  return key;
}

struct Plan {
  std::vector<char> bytes;
  bool was_kept = false;
};

Result<Plan> Build(const TensorRtLibrary& library, const TensorRtModel& model, const EngineKey& key,
                   const EngineCache* cache, const FileLock* lock, const OnEngineBuild& on_build) {
  const auto network = GpuNetwork(model.onnx, model.info);
  if (!network.ok()) return network.status();
  std::vector<char> timings;
  if (cache != nullptr) {
    // Without them the build only takes longer.
    auto stored = cache->LoadTimingCache(key);
    if (stored.ok()) timings = std::move(stored->bytes);
  }
  Stopwatch watch;
  auto built = BuildTensorRtPlan(library, *network, model.info, &timings, on_build);
  // A build that was broken off goes on from what it had measured.
  if (cache != nullptr && !timings.empty()) (void)cache->StoreTimingCache(key, timings);
  if (!built.ok()) return built.status();
  if (cache != nullptr) {
    EngineHeader header;
    header.key = key;
    header.model_name = model.name;
    header.created_s = static_cast<int64_t>(std::time(nullptr));
    header.build_ms = static_cast<int64_t>(watch.Lap());
    // A full disk costs the next start a build, not this one its engine.
    (void)cache->Store(*lock, header, *built);
  }
  return Plan{*std::move(built), false};
}

// A kept one that is not `refused`, or a new one, which takes its place.
Result<Plan> KeptOrBuilt(const TensorRtLibrary& library, const TensorRtModel& model,
                         const EngineKey& key, const std::string& folder,
                         const OnEngineBuild& on_build, const std::vector<char>& refused = {}) {
  if (folder.empty()) return Build(library, model, key, nullptr, nullptr, on_build);
  auto cache = EngineCache::Open(folder);
  if (!cache.ok()) return cache.status();
  // Twice: somebody may have built it while this one waited for the right to.
  std::optional<FileLock> lock;
  while (true) {
    auto stored = (*cache)->Load(key);
    if (!stored.ok()) return stored.status();
    if (stored->state == FileState::kReady && stored->plan != refused) {
      return Plan{std::move(stored->plan), true};
    }
    if (stored->state == FileState::kForeign) {
      return Status(StatusCode::kInternalError, stored->reason);
    }
    if (lock) return Build(library, model, key, cache->get(), &*lock, on_build);
    // Who holds it builds this very engine: to the caller it is a build, which can be given up.
    const auto go_on = [&on_build] { return !on_build || on_build(0); };
    auto locked = (*cache)->Lock(key, Clock::now() + kLongestBuild, go_on);
    if (!locked.ok()) return locked.status();
    lock.emplace(*std::move(locked));
  }
}

Result<TensorRtOwned<nvinfer1::ICudaEngine>> Deserialize(nvinfer1::IRuntime& runtime,
                                                         const std::vector<char>& plan) {
  TensorRtOwned<nvinfer1::ICudaEngine> engine(
      runtime.deserializeCudaEngine(plan.data(), plan.size()));
  if (engine) return engine;
  return TensorRtLogger::Get().Failure(StatusCode::kInvalidModel,
                                       "TensorRT cannot load the engine");
}

// Shape of the output for the smallest bucket.
Result<Shape> OutputShape(nvinfer1::ICudaEngine& engine, const ModelInfo& info) {
  std::vector<const char*> inputs;
  std::vector<const char*> outputs;
  for (int32_t i = 0; i < engine.getNbIOTensors(); ++i) {
    const char* name = engine.getIOTensorName(i);
    const bool input = engine.getTensorIOMode(name) == nvinfer1::TensorIOMode::kINPUT;
    (input ? inputs : outputs).push_back(name);
  }
  if (inputs.size() != 1 || outputs.size() != 1) {
    return Status(StatusCode::kInvalidModel, "The network has " + std::to_string(inputs.size()) +
                                                 " inputs and " + std::to_string(outputs.size()) +
                                                 " outputs; one of each is needed.");
  }
  if (engine.getTensorDataType(outputs[0]) != nvinfer1::DataType::kFLOAT) {
    return Status(StatusCode::kInvalidModel, "The network's output is not of type float32.");
  }
  const TensorRtOwned<nvinfer1::IExecutionContext> context(
      engine.createExecutionContext(nvinfer1::ExecutionContextAllocationStrategy::kUSER_MANAGED));
  const nvinfer1::Dims4 input(BucketsOf(info).front(), 3, info.input_height, info.input_width);
  if (!context || !context->setInputShape(inputs[0], input)) {
    return TensorRtLogger::Get().Failure(StatusCode::kInvalidModel,
                                         "TensorRT refused the input's shape");
  }
  const nvinfer1::Dims dims = context->getTensorShape(outputs[0]);
  Shape shape;
  for (int32_t i = 0; i < dims.nbDims; ++i) shape.push_back(dims.d[i]);
  return shape;
}

}  // namespace

Result<TensorRtModel> ReadTensorRtModel(const std::string& path) {
  auto file = ReadModelFile(path);
  if (!file.ok()) return file.status();
  const ByteView bytes = BytesOf(*file);
  auto metadata = ReadOnnxMetadata(bytes);
  if (!metadata.ok()) return metadata.status();
  auto described = DescribeMetadata(*std::move(metadata));
  if (!described.ok()) return described.status();
  const auto network = ReadOnnxModel(bytes);
  if (!network.ok()) return network.status();
  TensorRtModel model;
  model.info = *std::move(described);
  const auto input = ResolveInput(InputShapes(*network), model.info);
  if (!input.ok()) return input.status();
  model.name = std::filesystem::path(path).filename().string();
  model.sha256 = Hex(Sha256Of({file->data(), file->size()}));
  model.onnx = *std::move(file);
  return model;
}

Result<TensorRtOwned<nvinfer1::ICudaEngine>> OpenTensorRtModel(
    const TensorRtLibrary& library, nvinfer1::IRuntime& runtime, const GpuDevice& gpu,
    const GpuEngineOptions& options, const OnEngineBuild& on_build, TensorRtModel* model) {
  const EngineKey key = KeyOf(*model, library, gpu);
  auto plan = KeptOrBuilt(library, *model, key, options.cache_folder, on_build);
  if (!plan.ok()) return plan.status();
  auto engine = Deserialize(runtime, plan->bytes);
  // What TensorRT wrote under this very key it may still refuse: after another driver, say.
  const bool refused = engine.status().code() == StatusCode::kInvalidModel;
  if (refused && plan->was_kept && CheckGpu().ok()) {
    plan = KeptOrBuilt(library, *model, key, options.cache_folder, on_build, plan->bytes);
    if (!plan.ok()) return plan.status();
    engine = Deserialize(runtime, plan->bytes);
  }
  if (!engine.ok()) return engine.status();
  const auto output = OutputShape(**engine, model->info);
  if (!output.ok()) return output.status();
  const Status fits = CheckOutput({*output}, BucketsOf(model->info).front(), model->info);
  if (!fits.ok()) return fits;
  return engine;
}

}  // namespace lattice
