#include "native/engine/openvino_network.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <future>
#include <memory>
#include <openvino/openvino.hpp>
#include <optional>
#include <utility>

#include "native/base/resident_memory.h"
#include "native/base/serial_thread.h"
#include "native/base/thread_class.h"
#include "native/engine/openvino_core.h"
#include "native/engine/openvino_regrid.h"
#include "native/onnx/model_description.h"
#include "native/onnx/model_file.h"
#include "native/onnx/onnx_metadata.h"

namespace lattice {
namespace {

constexpr size_t kAlignment = 64;

bool CpuHasBf16() {
  const auto capabilities = SharedCore().get_property("CPU", ov::device::capabilities);
  return std::find(capabilities.begin(), capabilities.end(), "BF16") != capabilities.end();
}

std::string FirstLine(const std::exception& error) {
  const std::string text = error.what();
  // OpenVINO prefixes its messages with source positions; the last line holds the reason.
  const size_t end = text.find_last_not_of('\n');
  const size_t start = end == std::string::npos ? std::string::npos : text.rfind('\n', end);
  const size_t from = start == std::string::npos ? 0 : start + 1;
  return end == std::string::npos ? "no reason given"
                                  : text.substr(from, std::min<size_t>(end - from + 1, 300));
}

std::vector<Shape> Shapes(const std::vector<ov::Output<ov::Node>>& ports) {
  std::vector<Shape> shapes;
  for (const auto& port : ports) {
    Shape& shape = shapes.emplace_back();
    const ov::PartialShape& partial = port.get_partial_shape();
    if (partial.rank().is_dynamic()) continue;
    for (const auto& dim : partial) shape.push_back(dim.is_static() ? dim.get_length() : -1);
  }
  return shapes;
}

// Half-precision exports get float ports, so that the core deals with one type.
Result<std::shared_ptr<ov::Model>> WithFloatPorts(std::shared_ptr<ov::Model> model) {
  const ov::element::Type input = model->input().get_element_type();
  const ov::element::Type output = model->output().get_element_type();
  if (!input.is_real() || !output.is_real()) {
    return Status(StatusCode::kInvalidModel, "The model's tensors are of type " +
                                                 input.to_string() + " and " + output.to_string() +
                                                 "; floating-point ones are needed.");
  }
  if (input == ov::element::f32 && output == ov::element::f32) return model;
  ov::preprocess::PrePostProcessor ports(model);
  ports.input().tensor().set_element_type(ov::element::f32);
  ports.output().tensor().set_element_type(ov::element::f32);
  return ports.build();
}

// One caller's place in a lane: a request and the memory that goes with it. Throws what the library
// throws.
class Slot {
 public:
  Slot(ov::CompiledModel compiled, const ov::Shape& input)
      : compiled_(std::move(compiled)),
        request_(compiled_.create_infer_request()),
        input_(ov::element::f32, input),
        output_(request_.get_output_tensor()) {
    std::fill_n(input_.data<float>(), input_.get_size(), 0.0f);
    Compute();  // so that the first image finds all memory in place
  }

  void Run(std::span<NetworkItem> items) {
    const ov::Shape& shape = input_.get_shape();
    const size_t image = input_.get_size() / shape[0];
    const float* first = items[0].input;
    if (shape[0] == 1 && reinterpret_cast<uintptr_t>(first) % kAlignment == 0) {
      // The network never writes to its input; the library's interface just has no const tensor
      // here.
      request_.set_input_tensor(ov::Tensor(ov::element::f32, shape, const_cast<float*>(first)));
    } else {
      for (size_t i = 0; i < items.size(); ++i) {
        std::memcpy(input_.data<float>() + i * image, items[i].input, image * sizeof(float));
      }
      request_.set_input_tensor(input_);
    }
    Compute();
    const size_t result = output_.get_size() / shape[0];
    for (size_t i = 0; i < items.size(); ++i) {
      items[i].output = output_.data<float>() + i * result;
    }
  }

 private:
  // On what the input memory holds.
  void Compute() {
    request_.start_async();
    request_.wait();
  }

  ov::CompiledModel compiled_;
  ov::InferRequest request_;
  ov::Tensor input_;   // the slot's own memory, for images that cannot be used in place
  ov::Tensor output_;  // the request's memory
};

// A slot of the async lane: a network of its own on a thread of its own, which alone decides how
// that thread shares the cores. The thread takes no lock but its own queue's: where other programs
// keep the cores busy, one of the idle class may be stopped anywhere for long, and nobody else must
// wait for it then.
class ThreadSlot {
 public:
  // Starts to compile and returns.
  ThreadSlot(std::shared_ptr<ov::Model> model, ov::AnyMap properties, bool yields)
      : made_(Do([this, model = std::move(model), properties = std::move(properties), yields] {
          (void)NameThread("lattice-async");
          auto compiled = SharedCore().compile_model(model, "CPU", properties);
          slot_.emplace(std::move(compiled), model->input().get_shape());
          // Only now: a model loads at full speed however busy the machine is.
          if (yields) (void)MakeThreadIdleClass();
        })) {}

  // To be called once. Throws what the library threw.
  void WaitUntilMade() { made_.get(); }

  void Run(std::span<NetworkItem> items) {
    Do([&] { slot_->Run(items); }).get();
  }

 private:
  template <typename Work>
  std::future<void> Do(Work work) {
    auto task = std::make_shared<std::packaged_task<void()>>(std::move(work));
    auto done = task->get_future();
    (void)thread_.Post([task] { (*task)(); });
    return done;
  }

  std::optional<Slot> slot_;
  SerialThread thread_;
  std::future<void> made_;
};

// Without streams the library computes on the thread that asks.
ov::AnyMap CompileProperties(int threads, int streams, bool bf16) {
  return {
      ov::hint::inference_precision(bf16 ? ov::element::bf16 : ov::element::f32),
      ov::num_streams(ov::streams::Num(streams)),
      ov::inference_num_threads(threads),
      // The process shares its cores with decoding and with Node; pinned threads would wait for
      // them.
      ov::hint::enable_cpu_pinning(false),
  };
}

std::vector<Slot> SyncSlots(const ov::CompiledModel& compiled, const ov::Shape& input, int count) {
  std::vector<Slot> slots;
  for (int i = 0; i < count; ++i) slots.emplace_back(compiled, input);
  return slots;
}

std::vector<std::unique_ptr<ThreadSlot>> AsyncSlots(const std::shared_ptr<ov::Model>& model,
                                                    const EngineOptions& options, bool bf16) {
  const int threads = std::max(1, options.threads / std::max(1, options.async.parallel));
  std::vector<std::unique_ptr<ThreadSlot>> slots;
  for (int i = 0; i < options.async.slots; ++i) {
    slots.push_back(std::make_unique<ThreadSlot>(model, CompileProperties(threads, 0, bf16),
                                                 options.async_yields));
  }
  for (const auto& slot : slots) slot->WaitUntilMade();
  return slots;
}

// What a file turned out to be, compiled for both lanes.
struct Compiled {
  ModelInfo info;
  int batch = 0;
  std::vector<Slot> sync;
  std::vector<std::unique_ptr<ThreadSlot>> async;
};

Status Refuse(InputSize size, const std::string& reason) {
  return {StatusCode::kInvalidModel, "The model cannot run at " + std::to_string(size.width) +
                                         " x " + std::to_string(size.height) + ": " + reason};
}

// Changes the network and what is known of it.
Status SetRectangle(InputSize size, ov::Model& model, Shape* input, ModelInfo* info) {
  const InputSize own{info->input_width, info->input_height};
  if (size.width > own.width || size.height > own.height || size == own) {
    return Refuse(size, "its own input, " + std::to_string(own.width) + " x " +
                            std::to_string(own.height) + ", is not larger.");
  }
  if (size.width % info->stride != 0 || size.height % info->stride != 0) {
    return Refuse(size, "sides must be multiples of " + std::to_string(info->stride) + ".");
  }
  if ((*input)[0] != 1) return Refuse(size, "its batch is fixed.");
  try {
    if (!Regrid(model, own, size, info->stride)) {
      return Refuse(size, "the end of the network is not the published one.");
    }
  } catch (const ov::Exception&) {
    return Refuse(size, "its network fits its own input only.");
  }
  (*input)[2] = info->input_height = size.height;
  (*input)[3] = info->input_width = size.width;
  return {};
}

Result<Compiled> Compile(const std::string& path, const EngineOptions& options,
                         std::optional<InputSize> rectangle) {
  const size_t memory_before = AnonymousResidentBytes();
  auto file = ReadModelFile(path);
  if (!file.ok()) return file.status();
  auto metadata = ReadOnnxMetadata({reinterpret_cast<const uint8_t*>(file->data()), file->size()});
  if (!metadata.ok()) return metadata.status();
  auto described = DescribeMetadata(*std::move(metadata));
  if (!described.ok()) return described.status();
  ModelInfo info = *std::move(described);

  const bool bf16 = options.precision == "bf16" || (options.precision == "auto" && CpuHasBf16());
  if (options.precision == "bf16" && !CpuHasBf16()) {
    return Status(StatusCode::kInvalidModel,
                  "Precision bf16 was asked for, but this CPU lacks it.");
  }
  // From memory, so that the bytes that were checked are the bytes that run.
  auto model = SharedCore().read_model(*file, ov::Tensor());
  auto input = ResolveInput(Shapes(model->inputs()), info);
  if (!input.ok()) return input.status();
  if (rectangle) {
    const Status set = SetRectangle(*rectangle, *model, &*input, &info);
    if (!set.ok()) return set;
  }
  model->reshape(ov::PartialShape(std::vector<ov::Dimension>(input->begin(), input->end())));
  const Status output = CheckOutput(Shapes(model->outputs()), static_cast<int>((*input)[0]), info);
  if (!output.ok()) return output;
  auto with_ports = WithFloatPorts(std::move(model));
  if (!with_ports.ok()) return with_ports.status();

  const ov::Shape shape(input->begin(), input->end());
  auto compiled = SharedCore().compile_model(
      *with_ports, "CPU", CompileProperties(options.threads, options.sync.parallel, bf16));
  info.device = "CPU";
  info.precision = compiled.get_property(ov::hint::inference_precision).to_string();
  Compiled made;
  made.batch = static_cast<int>((*input)[0]);
  made.sync = SyncSlots(compiled, shape, options.sync.slots);
  made.async = AsyncSlots(*with_ports, options, bf16);
  made.info = std::move(info);
  // Others allocate and free meanwhile: it is never known better than roughly.
  made.info.memory_bytes =
      std::max(AnonymousResidentBytes(), memory_before + file->size()) - memory_before;
  return made;
}

}  // namespace

struct OpenVinoNetwork::Slots {
  std::vector<Slot> sync;
  std::vector<std::unique_ptr<ThreadSlot>> async;
};

Result<std::unique_ptr<OpenVinoNetwork>> OpenVinoNetwork::Load(const std::string& path,
                                                               const EngineOptions& options,
                                                               std::optional<InputSize> rectangle) {
  try {
    auto made = Compile(path, options, rectangle);
    if (!made.ok()) return made.status();
    auto slots = std::make_unique<Slots>(Slots{std::move(made->sync), std::move(made->async)});
    return std::unique_ptr<OpenVinoNetwork>(
        new OpenVinoNetwork(std::move(made->info), made->batch, std::move(slots)));
  } catch (const std::exception& error) {
    return Status(StatusCode::kInvalidModel, "The model cannot be loaded: " + FirstLine(error));
  }
}

OpenVinoNetwork::OpenVinoNetwork(ModelInfo info, int batch, std::unique_ptr<Slots> slots)
    : info_(std::move(info)), batch_(batch), slots_(std::move(slots)) {}

OpenVinoNetwork::~OpenVinoNetwork() = default;

int OpenVinoNetwork::slots(Lane lane) const {
  return static_cast<int>(lane == Lane::kSync ? slots_->sync.size() : slots_->async.size());
}

Status OpenVinoNetwork::Run(Lane lane, int slot, std::span<NetworkItem> items) {
  const auto index = static_cast<size_t>(slot);
  try {
    if (lane == Lane::kSync) {
      slots_->sync[index].Run(items);
    } else {
      slots_->async[index]->Run(items);
    }
    return {};
  } catch (const std::exception& error) {
    return {StatusCode::kDetectionFailed, "The network could not run: " + FirstLine(error)};
  }
}

std::string OpenVinoVersion() { return ov::get_openvino_version().buildNumber; }

}  // namespace lattice
