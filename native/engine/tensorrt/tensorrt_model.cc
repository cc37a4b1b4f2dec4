#include "native/engine/tensorrt/tensorrt_model.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <utility>
#include <vector>

#include "native/base/stopwatch.h"
#include "native/engine/tensorrt/gpu_network.h"
#include "native/engine/tensorrt/tensorrt_builder.h"
#include "native/engine/tensorrt/tensorrt_logger.h"
#include "native/engine_cache/crc32.h"
#include "native/engine_cache/engine_cache.h"
#include "native/onnx/model_description.h"
#include "native/onnx/model_file.h"
#include "native/onnx/onnx_metadata.h"
#include "native/onnx/onnx_reader.h"

namespace lattice {
namespace {

// Raised whenever the same file would become another network.
constexpr int kConversionVersion = 3;
// Longer than any build of another process.
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

EngineKey KeyOf(const TensorRtModel& model, const std::string& sha256,
                const TensorRtLibrary& library, const GpuDevice& gpu) {
  EngineKey key;
  key.model_sha256 = sha256;
  key.model_crc32 = Crc32(model.onnx);
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
                   const EngineCache* cache, const OnEngineBuild& on_build) {
  const auto network = GpuNetwork(model.onnx, model.info);
  if (!network.ok()) return network.status();
  // Without timings the build only takes longer.
  std::vector<char> timings = cache == nullptr ? std::vector<char>() : cache->LoadTimings(key);
  Stopwatch watch;
  auto built = BuildTensorRtPlan(library, *network, model.info, &timings, on_build);
  // The next build continues from the timings of one that was cancelled.
  if (cache != nullptr && !timings.empty()) (void)cache->StoreTimings(key, timings);
  if (!built.ok()) return built.status();
  if (cache != nullptr) {
    EngineHeader header;
    header.key = key;
    header.model_name = model.name;
    header.created_s = static_cast<int64_t>(std::time(nullptr));
    header.build_ms = static_cast<int64_t>(watch.Lap());
    // A full disk costs the next start a build, not this one its engine.
    (void)cache->Store(header, *built);
  }
  return Plan{*std::move(built), false};
}

// A stored plan that is not `refused`, or a new one, which replaces it.
Result<Plan> KeptOrBuilt(const TensorRtLibrary& library, const TensorRtModel& model,
                         const EngineKey& key, const std::string& folder,
                         const OnEngineBuild& on_build, const std::vector<char>& refused = {}) {
  // Without the file's hash a stored engine could not be told from another model's.
  if (folder.empty() || key.model_sha256.empty()) {
    return Build(library, model, key, nullptr, on_build);
  }
  const auto cache = EngineCache::Open(folder);
  if (!cache.ok()) return cache.status();
  // Twice: another process may have built it while this one waited for the lock.
  std::optional<ScopedFd> lock;
  while (true) {
    auto stored = cache->Load(key);
    if (stored && *stored != refused) return Plan{*std::move(stored), true};
    if (lock) return Build(library, model, key, &*cache, on_build);
    // The holder of the lock builds this engine, so the caller can cancel the wait like a build.
    const auto go_on = [&on_build] { return !on_build || on_build(0); };
    auto locked = cache->Lock(key, Clock::now() + kLongestBuild, go_on);
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
  model.onnx = *std::move(file);
  return model;
}

Result<TensorRtOwned<nvinfer1::ICudaEngine>> OpenTensorRtModel(
    const TensorRtLibrary& library, nvinfer1::IRuntime& runtime, const GpuDevice& gpu,
    const GpuEngineOptions& options, const OnEngineBuild& on_build, TensorRtModel* model) {
  const EngineKey key = KeyOf(*model, options.model_sha256, library, gpu);
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
