#include "native/cpu/openvino_network.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <exception>
#include <fstream>
#include <future>
#include <memory>
#include <openvino/openvino.hpp>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "native/base/serial_thread.h"
#include "native/base/thread_class.h"
#include "native/cpu/cpu_precision.h"
#include "native/cpu/openvino_core.h"
#include "native/cpu/openvino_model.h"

namespace lattice {
namespace {

constexpr size_t kInputAlignment = 64;

std::string FirstLine(const std::exception& error) {
  const std::string text = error.what();
  // OpenVINO prefixes its messages with source positions; the last line holds the reason.
  const size_t end = text.find_last_not_of('\n');
  const size_t start = end == std::string::npos ? std::string::npos : text.rfind('\n', end);
  const size_t from = start == std::string::npos ? 0 : start + 1;
  return end == std::string::npos ? "no reason given"
                                  : text.substr(from, std::min<size_t>(end - from + 1, 300));
}

// Bytes in memory that no file backs: heaps and stacks, not programs and libraries. 0 if the kernel
// does not say.
size_t AnonymousResidentBytes() {
  constexpr std::string_view kLabel = "RssAnon:";
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(kLabel)) continue;
    const size_t digits = line.find_first_of("0123456789");
    size_t kibibytes = 0;
    if (digits != std::string::npos) {
      std::from_chars(line.data() + digits, line.data() + line.size(), kibibytes);
    }
    return kibibytes * 1024;
  }
  return 0;
}

// A network that is compiled once. Compiling again for other threads would repeat the library's
// work on the graph, which takes four times as long as loading what it came to, and up to seconds
// for a quantised network. Thread-safe. Throws what the library throws.
class CompiledNetwork {
 public:
  CompiledNetwork(const OpenVinoModel& model, int threads, int streams, CpuPrecision precision)
      : precision_(precision),
        compiled_(SharedCore().compile_model(model.network, "CPU",
                                             CpuProperties(threads, streams, precision))) {
    std::ostringstream exported;
    compiled_.export_model(exported);
    exported_ = std::make_shared<const std::string>(std::move(exported).str());
  }

  const ov::CompiledModel& compiled() const { return compiled_; }

  // The same network with memory and threads of its own. It gives the same numbers.
  ov::CompiledModel WithStreams(int threads, int streams) const {
    std::istringstream exported(*exported_);
    return SharedCore().import_model(exported, "CPU", CpuProperties(threads, streams, precision_));
  }

 private:
  CpuPrecision precision_;
  ov::CompiledModel compiled_;
  std::shared_ptr<const std::string> exported_;
};

// An inference request with its memory, for one caller at a time. Throws what the library throws.
class Slot {
 public:
  Slot(ov::CompiledModel compiled, const ModelInfo& info)
      : compiled_(std::move(compiled)),
        request_(compiled_.create_infer_request()),
        head_(info.head),
        own_{info.input_width, info.input_height},
        input_(ov::element::f32, ShapeOf(own_, info.fixed_batch > 0 ? info.fixed_batch : 1)) {
    std::fill_n(input_.data<float>(), input_.get_size(), 0.0f);
    request_.set_input_tensor(input_);
    Compute();  // allocates all memory of the model's own size before the first image
    if (head_.layout == HeadLayout::kFinal) CheckRows();
  }

  void Run(std::span<NetworkItem> items) {
    const ov::Shape shape = ShapeOf(items[0].size, Batch());
    const size_t image = ov::shape_size(shape) / Batch();
    const float* first = items[0].input;
    if (Batch() == 1 && reinterpret_cast<uintptr_t>(first) % kInputAlignment == 0) {
      // The network never writes to its input; the library's interface just has no const tensor
      // here.
      request_.set_input_tensor(ov::Tensor(ov::element::f32, shape, const_cast<float*>(first)));
    } else {
      for (size_t i = 0; i < items.size(); ++i) {
        std::memcpy(input_.data<float>() + i * image, items[i].input, image * sizeof(float));
      }
      request_.set_input_tensor(ov::Tensor(ov::element::f32, shape, input_.data<float>()));
    }
    Compute();
    for (size_t i = 0; i < items.size(); ++i) Read(i, &items[i].output);
  }

 private:
  static ov::Shape ShapeOf(InputSize size, int batch) {
    return {static_cast<size_t>(batch), 3, static_cast<size_t>(size.height),
            static_cast<size_t>(size.width)};
  }

  size_t Batch() const { return input_.get_shape()[0]; }

  void Compute() {
    request_.start_async();
    request_.wait();
  }

  // One image's part of an output: the request's memory, which moves with the shape of the input.
  const float* Part(const ov::Tensor& tensor, size_t item) const {
    return tensor.data<float>() + item * (tensor.get_size() / Batch());
  }

  void Read(size_t item, HeadOutput* output) {
    if (head_.layout != HeadLayout::kScales) {
      const ov::Tensor rows = request_.get_output_tensor();
      output->rows = Part(rows, item);
      output->count =
          static_cast<int>(rows.get_shape()[head_.layout == HeadLayout::kFinal ? 1 : 2]);
      return;
    }
    for (size_t i = 0; i < kHeadScales; ++i) {
      const ov::Tensor boxes = request_.get_output_tensor(2 * i);
      const ov::Tensor classes = request_.get_output_tensor(2 * i + 1);
      const ov::Shape grid = boxes.get_shape();
      output->scales[i] = {Part(boxes, item), Part(classes, item), static_cast<int>(grid[3]),
                           static_cast<int>(grid[2] * grid[3])};
    }
  }

  // What a network with its own suppression promises may be open; what it gives is not.
  void CheckRows() {
    const ov::Shape shape = request_.get_output_tensor().get_shape();
    if (shape.size() == 3 && shape[0] == Batch() && shape[2] == 6) return;
    throw std::runtime_error("its output is not [batch, rows, 6] when it runs");
  }

  ov::CompiledModel compiled_;
  ov::InferRequest request_;
  Head head_;
  InputSize own_;
  ov::Tensor input_;  // the slot's own memory, for images that cannot be used in place
};

// A slot for async batches: a network of its own on a thread of its own, whose scheduling class
// decides how the batches share the cores. The thread takes only the lock of its queue: while other
// programs keep the cores busy, a thread of the idle class may be stopped anywhere for long, and no
// other thread may wait for it.
class ThreadSlot {
 public:
  // Starts loading and returns.
  ThreadSlot(CompiledNetwork network, const ModelInfo& info, int threads, bool yields)
      : made_(Do([this, network = std::move(network), info, threads, yields] {
          (void)NameThread("lattice-async");
          slot_.emplace(network.WithStreams(threads, 0), info);
          // Not before: a model loads at full speed even on a busy machine.
          if (yields) (void)MakeThreadIdleClass();
        })) {}

  // Call it once. Throws what the library threw.
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

// A slot for sync batches: the network on one share of the class's threads, and on a wide batch's.
class SyncSlot {
 public:
  // Without `one_share` every batch is wide.
  SyncSlot(const ov::CompiledModel& wide, const std::optional<ov::CompiledModel>& one_share,
           const ModelInfo& info)
      : wide_(wide, info) {
    if (one_share) one_share_.emplace(*one_share, info);
  }

  void Run(Width width, std::span<NetworkItem> items) {
    const bool narrow = width == Width::kOneShare && one_share_;
    (narrow ? *one_share_ : wide_).Run(items);
  }

 private:
  Slot wide_;
  std::optional<Slot> one_share_;
};

std::vector<SyncSlot> SyncSlots(const CompiledNetwork& network, const ModelInfo& info,
                                const EngineOptions& options) {
  std::optional<ov::CompiledModel> one_share;
  if (options.sync.wide > 1) {
    one_share = network.WithStreams(options.threads, options.sync.parallel);
  }
  std::vector<SyncSlot> slots;
  for (int i = 0; i < options.sync.slots; ++i) {
    slots.emplace_back(network.compiled(), one_share, info);
  }
  return slots;
}

std::vector<std::unique_ptr<ThreadSlot>> AsyncSlots(const CompiledNetwork& network,
                                                    const ModelInfo& info,
                                                    const EngineOptions& options) {
  const int threads = std::max(1, options.threads / std::max(1, options.async.parallel));
  std::vector<std::unique_ptr<ThreadSlot>> slots;
  for (int i = 0; i < options.async.slots; ++i) {
    slots.push_back(std::make_unique<ThreadSlot>(network, info, threads, options.async_yields));
  }
  for (const auto& slot : slots) slot->WaitUntilMade();
  return slots;
}

}  // namespace

struct OpenVinoNetwork::Slots {
  std::vector<SyncSlot> sync;
  std::vector<std::unique_ptr<ThreadSlot>> async;
};

Result<std::unique_ptr<OpenVinoNetwork>> OpenVinoNetwork::Load(const std::string& path,
                                                               const EngineOptions& options) {
  const size_t memory_before = AnonymousResidentBytes();
  try {
    auto network = Make(path, options);
    if (!network.ok()) return network;
    // An estimate: other threads allocate and free at the same time.
    const size_t least = memory_before + (*network)->info_.memory_bytes;
    (*network)->info_.memory_bytes = std::max(AnonymousResidentBytes(), least) - memory_before;
    return network;
  } catch (const std::exception& error) {
    return Status(StatusCode::kInvalidModel, "The model cannot be loaded: " + FirstLine(error));
  }
}

Result<std::unique_ptr<OpenVinoNetwork>> OpenVinoNetwork::Make(const std::string& path,
                                                               const EngineOptions& options) {
  auto model = ReadOpenVinoModel(path, options.rectangles);
  if (!model.ok()) return model.status();
  const auto bf16 = UsesBf16(options.precision);
  if (!bf16.ok()) return bf16.status();
  const CpuPrecision precision{*bf16, model->quantization != Quantization::kSigned};
  const CompiledNetwork compiled(*model, options.threads, options.sync.wide_batches(), precision);
  ModelInfo info = model->info;
  info.device = "CPU";
  info.precision =
      model->quantization == Quantization::kUnsigned
          ? "int8"
          : compiled.compiled().get_property(ov::hint::inference_precision).to_string();
  info.memory_bytes = model->file_bytes;
  auto slots = std::make_unique<Slots>(
      Slots{SyncSlots(compiled, info, options), AsyncSlots(compiled, info, options)});
  return std::unique_ptr<OpenVinoNetwork>(new OpenVinoNetwork(std::move(info), std::move(slots)));
}

OpenVinoNetwork::OpenVinoNetwork(ModelInfo info, std::unique_ptr<Slots> slots)
    : info_(std::move(info)), slots_(std::move(slots)) {}

OpenVinoNetwork::~OpenVinoNetwork() = default;

int OpenVinoNetwork::slots(WorkClass work_class) const {
  return static_cast<int>(work_class == WorkClass::kSync ? slots_->sync.size()
                                                         : slots_->async.size());
}

Status OpenVinoNetwork::Run(WorkClass work_class, int slot, Width width,
                            std::span<NetworkItem> items) {
  const auto index = static_cast<size_t>(slot);
  try {
    if (work_class == WorkClass::kSync) {
      slots_->sync[index].Run(width, items);
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
