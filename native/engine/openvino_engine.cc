#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <fstream>
#include <openvino/openvino.hpp>
#include <utility>

#include "native/engine/engine.h"
#include "native/engine/model_description.h"
#include "native/engine/onnx_metadata.h"

namespace lattice {
namespace {

constexpr off_t kMaxModelBytes = off_t{2} << 30;  // protobuf's own limit
constexpr size_t kAlignment = 64;

// Never destroyed: exit handlers of other libraries may still run inference threads when statics
// die.
ov::Core& SharedCore() {
  static auto* core = new ov::Core();
  return *core;
}

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

Result<std::string> ReadModelFile(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    return Status(StatusCode::kUnknownModel, "There is no such model file.");
  }
  if (!S_ISREG(info.st_mode)) {
    return Status(StatusCode::kInvalidModel, "The model path is not a regular file.");
  }
  if (info.st_size > kMaxModelBytes) {
    return Status(StatusCode::kInvalidModel, "The model file is over 2 GiB.");
  }
  std::string bytes(static_cast<size_t>(info.st_size), '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
    return Status(StatusCode::kInvalidModel, "The model file cannot be read.");
  }
  return bytes;
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

class OpenVinoEngine final : public Engine {
 public:
  OpenVinoEngine(ModelInfo info, ov::CompiledModel compiled, Shape input, int slots)
      : info_(std::move(info)), compiled_(std::move(compiled)), input_(input.begin(), input.end()) {
    for (int i = 0; i < slots; ++i) slots_.push_back(MakeSlot());
  }

  const ModelInfo& info() const override { return info_; }
  int slots() const override { return static_cast<int>(slots_.size()); }
  int max_batch() const override { return static_cast<int>(input_[0]); }

  Status Run(int slot, std::span<EngineItem> items) override {
    try {
      return RunSlot(slots_[static_cast<size_t>(slot)], items);
    } catch (const std::exception& error) {
      return {StatusCode::kDetectionFailed, "The network could not run: " + FirstLine(error)};
    }
  }

 private:
  struct Slot {
    ov::InferRequest request;
    ov::Tensor input;   // the slot's own memory, for images that cannot be used in place
    ov::Tensor output;  // the request's memory
  };

  Slot MakeSlot() {
    Slot slot;
    slot.request = compiled_.create_infer_request();
    slot.input = ov::Tensor(ov::element::f32, input_);
    std::fill_n(slot.input.data<float>(), slot.input.get_size(), 0.0f);
    slot.output = slot.request.get_output_tensor();
    return slot;
  }

  Status RunSlot(Slot& slot, std::span<EngineItem> items) {
    const size_t image = slot.input.get_size() / input_[0];
    const float* first = items[0].input;
    if (input_[0] == 1 && reinterpret_cast<uintptr_t>(first) % kAlignment == 0) {
      // The network never writes to its input; the library's interface just has no const tensor
      // here.
      slot.request.set_input_tensor(
          ov::Tensor(ov::element::f32, input_, const_cast<float*>(first)));
    } else {
      for (size_t i = 0; i < items.size(); ++i) {
        std::memcpy(slot.input.data<float>() + i * image, items[i].input, image * sizeof(float));
      }
      slot.request.set_input_tensor(slot.input);
    }
    slot.request.start_async();
    slot.request.wait();
    const size_t result = slot.output.get_size() / input_[0];
    for (size_t i = 0; i < items.size(); ++i) {
      items[i].output = slot.output.data<float>() + i * result;
    }
    return {};
  }

  ModelInfo info_;
  ov::CompiledModel compiled_;
  ov::Shape input_;
  std::vector<Slot> slots_;
};

ov::AnyMap CompileProperties(const EngineOptions& options, bool bf16) {
  return {
      ov::hint::inference_precision(bf16 ? ov::element::bf16 : ov::element::f32),
      ov::num_streams(ov::streams::Num(options.parallel)),
      ov::inference_num_threads(options.threads),
      // The process shares its cores with decoding and with Node; pinned threads would wait for
      // them.
      ov::hint::enable_cpu_pinning(false),
  };
}

Result<std::unique_ptr<Engine>> Load(const std::string& path, const EngineOptions& options) {
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
  const auto input = ResolveInput(Shapes(model->inputs()), info);
  if (!input.ok()) return input.status();
  model->reshape(ov::PartialShape(std::vector<ov::Dimension>(input->begin(), input->end())));
  const Status output = CheckOutput(Shapes(model->outputs()), static_cast<int>((*input)[0]), info);
  if (!output.ok()) return output;
  auto with_ports = WithFloatPorts(std::move(model));
  if (!with_ports.ok()) return with_ports.status();

  auto compiled = SharedCore().compile_model(*with_ports, "CPU", CompileProperties(options, bf16));
  info.device = "CPU";
  info.precision = compiled.get_property(ov::hint::inference_precision).to_string();
  return std::unique_ptr<Engine>(std::make_unique<OpenVinoEngine>(
      std::move(info), std::move(compiled), *input, options.slots));
}

}  // namespace

Result<std::unique_ptr<Engine>> LoadOpenVinoEngine(const std::string& path,
                                                   const EngineOptions& options) {
  try {
    return Load(path, options);
  } catch (const std::exception& error) {
    return Status(StatusCode::kInvalidModel, "The model cannot be loaded: " + FirstLine(error));
  }
}

std::string OpenVinoVersion() { return ov::get_openvino_version().buildNumber; }

}  // namespace lattice
