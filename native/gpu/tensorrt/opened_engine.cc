#include "native/gpu/tensorrt/opened_engine.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "native/gpu/kernels/device_head.h"
#include "native/gpu/tensorrt/engine_key.h"
#include "native/gpu/tensorrt/gpu_network.h"
#include "native/gpu/tensorrt/tensorrt_builder.h"
#include "native/gpu/tensorrt/tensorrt_logger.h"
#include "native/kept/kept_folder.h"
#include "native/model/model_description.h"

namespace lattice {
namespace {

// Raised whenever the same file would become another network.
constexpr int kConversionVersion = 6;
// Longer than any build of another process.
constexpr std::chrono::minutes kLongestBuild{60};

EngineKey KeyOf(const TensorRtModel& model, const TensorRtLibrary& library, const GpuDevice& gpu,
                int batch) {
  EngineKey key;
  key.model_name = model.name;
  key.model_sha256 = model.info.sha256;
  key.tensorrt_version = library.version();
  key.gpu_name = gpu.name;
  key.sm_major = gpu.sm_major;
  key.sm_minor = gpu.sm_minor;
  key.precision = PrecisionOf(model);
  key.batch = batch;
  key.input_width = model.info.input_width;
  key.input_height = model.info.input_height;
  key.builder_level = kBuilderLevel;
  key.conversion_version = kConversionVersion;
  return key;
}

struct Plan {
  std::vector<char> bytes;
  bool was_kept = false;
  bool is_kept = false;
  std::string fault = {};  // of the stored one that it has replaced
};

// The later one of two writers wins. TensorRT ignores timings that do not fit.
void StoreTimings(const KeptFolder& folder, const EngineKey& key, std::span<const char> timings) {
  // The lock is held only while the file is written.
  constexpr std::chrono::seconds kLongestWait{10};
  const auto lock = folder.Lock(TimingName(key), Clock::now() + kLongestWait);
  if (lock.ok()) (void)folder.Store(TimingName(key), timings);
}

Result<Plan> Build(const TensorRtLibrary& library, const TensorRtModel& model, const EngineKey& key,
                   const KeptFolder* folder, const OnEngineBuild& on_build) {
  const auto network = GpuNetwork(model.onnx, model.info, model.cut);
  if (!network.ok()) return network.status();
  // Without timings the build only takes longer.
  std::vector<char> timings;
  if (folder != nullptr) timings = folder->Load(TimingName(key)).value_or(std::vector<char>());
  auto built = BuildTensorRtPlan(library, *network, model.info, key.batch, &timings, on_build);
  // The next build continues from the timings of one that was cancelled.
  if (folder != nullptr && !timings.empty()) StoreTimings(*folder, key, timings);
  if (!built.ok()) return built.status();
  // A full disk costs the next start a build, not this one its engine.
  const bool kept = folder != nullptr && folder->Store(EngineName(key), *built).ok();
  return Plan{*std::move(built), false, kept};
}

// A stored plan that is not `refused`, or a new one, which replaces it.
Result<Plan> KeptOrBuilt(const TensorRtLibrary& library, const TensorRtModel& model,
                         const EngineKey& key, const std::string& path,
                         const OnEngineBuild& on_build, const std::vector<char>& refused = {}) {
  if (path.empty()) return Build(library, model, key, nullptr, on_build);
  const auto folder = KeptFolder::Open(path);
  if (!folder.ok()) return folder.status();
  // Twice: another process may have built it while this one waited for the lock.
  std::optional<ScopedFd> lock;
  while (true) {
    std::string fault;
    auto stored = folder->Load(EngineName(key), &fault);
    if (stored && *stored != refused) return Plan{*std::move(stored), true, true};
    if (lock) {
      auto built = Build(library, model, key, &*folder, on_build);
      if (built.ok()) built->fault = std::move(fault);
      return built;
    }
    // The holder of the lock builds this engine, so the caller can cancel the wait like a build.
    const auto go_on = [&on_build] { return !on_build || on_build(0); };
    auto locked = folder->Lock(EngineName(key), Clock::now() + kLongestBuild, go_on);
    if (!locked.ok()) return locked.status();
    lock.emplace(*std::move(locked));
  }
}

Result<std::unique_ptr<nvinfer1::ICudaEngine>> Deserialize(nvinfer1::IRuntime& runtime,
                                                           const std::vector<char>& plan) {
  std::unique_ptr<nvinfer1::ICudaEngine> engine(
      runtime.deserializeCudaEngine(plan.data(), plan.size()));
  if (engine) return engine;
  return TensorRtLogger::Get().Failure(StatusCode::kInvalidModel,
                                       "TensorRT cannot load the engine");
}

Status Misfit(const std::string& what) { return {StatusCode::kInvalidModel, what}; }

// The names of the engine's outputs as `model` expects them; nothing where they are others.
std::vector<std::string> OutputNames(const nvinfer1::ICudaEngine& engine,
                                     const TensorRtModel& model) {
  std::vector<std::string> found;
  size_t inputs = 0;
  for (int32_t i = 0; i < engine.getNbIOTensors(); ++i) {
    const char* name = engine.getIOTensorName(i);
    const bool input = engine.getTensorIOMode(name) == nvinfer1::TensorIOMode::kINPUT;
    if (!input) found.emplace_back(name);
    inputs += input ? 1 : 0;
  }
  std::vector<std::string> expected;
  for (const HeadScale& scale : model.cut ? model.cut->scales : std::vector<HeadScale>()) {
    expected.insert(expected.end(), {scale.boxes, scale.classes});
  }
  if (expected.empty() && found.size() == 1) expected = found;
  const bool same =
      std::is_permutation(found.begin(), found.end(), expected.begin(), expected.end());
  return same && inputs == 1 ? expected : std::vector<std::string>();
}

Result<std::vector<Shape>> OutputShapes(nvinfer1::ICudaEngine& engine, int batch,
                                        const TensorRtModel& model,
                                        const std::vector<std::string>& names) {
  const std::unique_ptr<nvinfer1::IExecutionContext> context(
      engine.createExecutionContext(nvinfer1::ExecutionContextAllocationStrategy::kUSER_MANAGED));
  const nvinfer1::Dims4 input(batch, 3, model.info.input_height, model.info.input_width);
  bool set = context != nullptr;
  for (int32_t i = 0; set && i < engine.getNbIOTensors(); ++i) {
    const char* name = engine.getIOTensorName(i);
    if (engine.getTensorIOMode(name) == nvinfer1::TensorIOMode::kINPUT) {
      set = context->setInputShape(name, input);
    }
  }
  if (!set) {
    return TensorRtLogger::Get().Failure(StatusCode::kInvalidModel,
                                         "TensorRT refused the input's shape");
  }
  std::vector<Shape> shapes;
  for (const std::string& name : names) {
    const nvinfer1::Dims dims = context->getTensorShape(name.c_str());
    shapes.emplace_back(dims.d, dims.d + std::max(dims.nbDims, 0));
  }
  return shapes;
}

// Checks the outputs of a cut network against the head that was found in the file.
Status CheckHeadShapes(const std::vector<Shape>& shapes, int batch, const TensorRtModel& model) {
  for (size_t i = 0; i < shapes.size(); ++i) {
    const int stride = model.info.head.strides[i / 2];
    const int64_t channels = i % 2 == 0 ? 4 * model.info.head.bins : model.info.head.classes;
    const Shape expected = {batch, channels, model.info.input_height / stride,
                            model.info.input_width / stride};
    if (shapes[i] != expected) {
      return Misfit("TensorRT gives the head's tensors the shape " + ToText(shapes[i]) + "; " +
                    ToText(expected) + " is needed.");
    }
  }
  return {};
}

// Sets the outputs, and what follows from them; those that are set already must be the same.
Status DescribeOutputs(nvinfer1::ICudaEngine& engine, int batch, TensorRtModel* model) {
  const std::vector<std::string> names = OutputNames(engine, *model);
  if (names.empty()) return Misfit("The engine's inputs and outputs are not the network's.");
  const auto shapes = OutputShapes(engine, batch, *model, names);
  if (!shapes.ok()) return shapes.status();
  const Status fits = model->cut ? CheckHeadShapes(*shapes, batch, *model)
                                 : CheckOutput(*shapes, batch, model->chooses_boxes, model->info);
  if (!fits.ok()) return fits;
  const auto type = model->cut ? nvinfer1::DataType::kHALF : nvinfer1::DataType::kFLOAT;
  std::vector<EngineOutput> outputs;
  for (size_t i = 0; i < names.size(); ++i) {
    if (engine.getTensorDataType(names[i].c_str()) != type) {
      return Misfit("The network's output '" + names[i] + "' is of another type than " +
                    PrecisionOf(*model) + ".");
    }
    const Shape& shape = (*shapes)[i];
    outputs.push_back(
        {names[i], {shape.begin() + 1, shape.end()}, model->cut ? sizeof(Half) : sizeof(float)});
  }
  if (model->outputs.empty()) model->outputs = outputs;
  return model->outputs == outputs ? Status() : Misfit("Its engines have different outputs.");
}

}  // namespace

Result<OpenedEngine> OpenTensorRtModel(const TensorRtLibrary& library, nvinfer1::IRuntime& runtime,
                                       const GpuDevice& gpu, const GpuEngineOptions& options,
                                       const OnEngineBuild& on_build, int batch,
                                       TensorRtModel* model) {
  const EngineKey key = KeyOf(*model, library, gpu, batch);
  auto plan = KeptOrBuilt(library, *model, key, options.kept_folder, on_build);
  if (!plan.ok()) return plan.status();
  auto engine = Deserialize(runtime, plan->bytes);
  // TensorRT may still refuse what it wrote under this very key: after another driver, say.
  const bool refused = engine.status().code() == StatusCode::kInvalidModel;
  if (refused && plan->was_kept && CheckGpu().ok()) {
    plan = KeptOrBuilt(library, *model, key, options.kept_folder, on_build, plan->bytes);
    if (!plan.ok()) return plan.status();
    plan->fault = EngineName(key) + " cannot be used: TensorRT refuses it.";
    engine = Deserialize(runtime, plan->bytes);
  }
  if (!engine.ok()) return engine.status();
  if (!plan->fault.empty()) model->info.replaced.push_back(plan->fault);
  const Status described = DescribeOutputs(**engine, batch, model);
  if (!described.ok()) return described;
  return OpenedEngine{*std::move(engine), plan->is_kept};
}

std::string EngineFile(const TensorRtLibrary& library, const GpuDevice& gpu, int batch,
                       const TensorRtModel& model) {
  return EngineName(KeyOf(model, library, gpu, batch));
}

}  // namespace lattice
