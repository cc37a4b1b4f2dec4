#include "native/engine/openvino/openvino_network.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <exception>
#include <fstream>
#include <future>
#include <memory>
#include <openvino/openvino.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "native/base/serial_thread.h"
#include "native/base/thread_class.h"
#include "native/engine/openvino/cpu_precision.h"
#include "native/engine/openvino/openvino_core.h"
#include "native/engine/openvino/openvino_model.h"

namespace lattice {
namespace {

constexpr size_t kAlignment = 64;

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

// An inference request with its memory, for one caller at a time. Throws what the library throws.
class Slot {
 public:
  Slot(ov::CompiledModel compiled, const ov::Shape& input)
      : compiled_(std::move(compiled)),
        request_(compiled_.create_infer_request()),
        input_(ov::element::f32, input),
        output_(request_.get_output_tensor()) {
    std::fill_n(input_.data<float>(), input_.get_size(), 0.0f);
    Compute();  // allocates all memory before the first image
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
  void Compute() {
    request_.start_async();
    request_.wait();
  }

  ov::CompiledModel compiled_;
  ov::InferRequest request_;
  ov::Tensor input_;   // the slot's own memory, for images that cannot be used in place
  ov::Tensor output_;  // the request's memory
};

// A slot for async batches: a network of its own on a thread of its own, whose scheduling class
// decides how the batches share the cores. The thread takes only the lock of its queue: while other
// programs keep the cores busy, a thread of the idle class may be stopped anywhere for long, and no
// other thread may wait for it.
class ThreadSlot {
 public:
  // Starts compiling and returns.
  ThreadSlot(std::shared_ptr<ov::Model> model, ov::AnyMap properties, bool yields)
      : made_(Do([this, model = std::move(model), properties = std::move(properties), yields] {
          (void)NameThread("lattice-async");
          auto compiled = SharedCore().compile_model(model, "CPU", properties);
          slot_.emplace(std::move(compiled), model->input().get_shape());
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
    slots.push_back(
        std::make_unique<ThreadSlot>(model, CpuProperties(threads, 0, bf16), options.async_yields));
  }
  for (const auto& slot : slots) slot->WaitUntilMade();
  return slots;
}

// A network compiled for both classes.
struct Compiled {
  ModelInfo info;
  int batch = 0;
  std::vector<Slot> sync;
  std::vector<std::unique_ptr<ThreadSlot>> async;
};

Result<Compiled> Compile(SizedNetwork sized, const EngineOptions& options) {
  const auto bf16 = UsesBf16(options.precision);
  if (!bf16.ok()) return bf16.status();
  auto compiled = SharedCore().compile_model(
      sized.network, "CPU", CpuProperties(options.threads, options.sync.parallel, *bf16));
  Compiled made;
  made.info = std::move(sized.info);
  made.info.device = "CPU";
  made.info.precision = compiled.get_property(ov::hint::inference_precision).to_string();
  made.batch = static_cast<int>(sized.input[0]);
  made.sync = SyncSlots(compiled, sized.input, options.sync.slots);
  made.async = AsyncSlots(sized.network, options, *bf16);
  return made;
}

Status CannotBeLoaded(const std::exception& error) {
  return {StatusCode::kInvalidModel, "The model cannot be loaded: " + FirstLine(error)};
}

}  // namespace

struct OpenVinoNetwork::Slots {
  std::vector<Slot> sync;
  std::vector<std::unique_ptr<ThreadSlot>> async;
};

Result<OpenVinoNetworks> OpenVinoNetwork::Load(const std::string& path,
                                               const EngineOptions& options) {
  const size_t memory_before = AnonymousResidentBytes();
  auto loaded = LoadAll(path, options);
  if (!loaded.ok()) return loaded;
  // An estimate: other threads allocate and free at the same time.
  loaded->memory_bytes =
      std::max(AnonymousResidentBytes(), memory_before + loaded->memory_bytes) - memory_before;
  return loaded;
}

Result<OpenVinoNetworks> OpenVinoNetwork::LoadAll(const std::string& path,
                                                  const EngineOptions& options) {
  try {
    const auto model = ReadOpenVinoModel(path);
    if (!model.ok()) return model.status();
    OpenVinoNetworks loaded;
    loaded.memory_bytes = model->file_bytes;
    auto own = Make(*model, options, std::nullopt);
    if (!own.ok()) return own.status();
    loaded.networks.push_back(*std::move(own));
    for (const InputSize& rectangle : options.rectangles) {
      auto network = Make(*model, options, rectangle);
      if (network.ok()) {
        loaded.networks.push_back(*std::move(network));
      } else {
        loaded.without.push_back(network.status().message());
      }
    }
    return loaded;
  } catch (const std::exception& error) {
    return CannotBeLoaded(error);
  }
}

Result<std::unique_ptr<OpenVinoNetwork>> OpenVinoNetwork::Make(const OpenVinoModel& model,
                                                               const EngineOptions& options,
                                                               std::optional<InputSize> rectangle) {
  try {
    auto sized = SizeNetwork(model, rectangle);
    if (!sized.ok()) return sized.status();
    auto made = Compile(*std::move(sized), options);
    if (!made.ok()) return made.status();
    auto slots = std::make_unique<Slots>(Slots{std::move(made->sync), std::move(made->async)});
    return std::unique_ptr<OpenVinoNetwork>(
        new OpenVinoNetwork(std::move(made->info), made->batch, std::move(slots)));
  } catch (const std::exception& error) {
    return CannotBeLoaded(error);
  }
}

OpenVinoNetwork::OpenVinoNetwork(ModelInfo info, int batch, std::unique_ptr<Slots> slots)
    : info_(std::move(info)), batch_(batch), slots_(std::move(slots)) {}

OpenVinoNetwork::~OpenVinoNetwork() = default;

int OpenVinoNetwork::slots(WorkClass work_class) const {
  return static_cast<int>(work_class == WorkClass::kSync ? slots_->sync.size()
                                                         : slots_->async.size());
}

Status OpenVinoNetwork::Run(WorkClass work_class, int slot, std::span<NetworkItem> items) {
  const auto index = static_cast<size_t>(slot);
  try {
    if (work_class == WorkClass::kSync) {
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
