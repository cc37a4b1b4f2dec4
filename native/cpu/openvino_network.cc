#include "native/cpu/openvino_network.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <exception>
#include <fstream>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <openvino/openvino.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "native/base/serial_thread.h"
#include "native/base/stopwatch.h"
#include "native/base/thread_class.h"
#include "native/cpu/compiled_network.h"
#include "native/cpu/network_traits.h"
#include "native/cpu/wide_slots.h"

namespace lattice {
namespace {

constexpr size_t kInputAlignment = 64;

// Nice value for the work of a load while other models serve.
constexpr int kLoadNice = 10;

std::string ReasonOf(const std::exception& error) {
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
  Slot(ov::CompiledModel compiled, const ModelInfo& info)
      : compiled_(std::move(compiled)),
        request_(compiled_.create_infer_request()),
        head_(info.head),
        own_{info.input_width, info.input_height},
        input_(InputType(info), ShapeOf(own_, info.fixed_batch > 0 ? info.fixed_batch : 1)) {
    std::memset(input_.data(), 0, input_.get_byte_size());
    request_.set_input_tensor(input_);
    request_.start_async();
  }

  // Ends the first run, on an empty image, which allocates all memory of the model's own size.
  // Call it once, before any other.
  void WaitUntilMade() {
    request_.wait();
    if (head_.layout == HeadLayout::kFinal) CheckRows();
  }

  void Run(std::span<NetworkItem> items) {
    const ov::element::Type type = input_.get_element_type();
    const ov::Shape shape = ShapeOf(items[0].size, Batch());
    const void* first = items[0].input;
    if (Batch() == 1 && reinterpret_cast<uintptr_t>(first) % kInputAlignment == 0) {
      // The network never writes to its input; the library's interface just has no const tensor
      // here.
      request_.set_input_tensor(ov::Tensor(type, shape, const_cast<void*>(first)));
    } else {
      const size_t image = ov::shape_size(shape) / Batch() * type.size();
      for (size_t i = 0; i < items.size(); ++i) {
        std::memcpy(static_cast<std::byte*>(input_.data()) + i * image, items[i].input, image);
      }
      request_.set_input_tensor(ov::Tensor(type, shape, input_.data()));
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

  // The shape that a network with its own suppression promises may be open; that of its rows is
  // not.
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
  ThreadSlot(const CompiledNetwork& network, int threads, bool yields)
      : network_(network), threads_(threads), yields_(yields) {}

  // Makes the slot's network. The first Run does it otherwise.
  std::future<void> StartMaking() {
    return Do([this] { Make(); });
  }

  void Run(std::span<NetworkItem> items) {
    Do([&] {
      if (!slot_) Make();
      slot_->Run(items);
    }).get();
  }

 private:
  void Make() {
    (void)NameThread("lattice-async");
    if (yields_) (void)LowerThread(kLoadNice);
    slot_.emplace(network_.WithStreams(threads_, 0), network_.info()).WaitUntilMade();
    // Only from here on: the network must be made in time even on a busy machine.
    if (yields_) (void)MakeThreadIdleClass();
  }

  template <typename Work>
  std::future<void> Do(Work work) {
    auto task = std::make_shared<std::packaged_task<void()>>(std::move(work));
    auto done = task->get_future();
    (void)thread_.Post([task] { (*task)(); });
    return done;
  }

  const CompiledNetwork& network_;
  const int threads_;
  const bool yields_;
  std::optional<Slot> slot_;
  SerialThread thread_;
};

using AsyncSlots = std::vector<std::unique_ptr<ThreadSlot>>;

AsyncSlots MakeAsyncSlots(const CompiledNetwork& network, const EngineOptions& options) {
  const int threads = std::max(1, options.threads / options.async.slots);
  AsyncSlots slots;
  for (int i = 0; i < options.async.slots; ++i) {
    slots.push_back(std::make_unique<ThreadSlot>(network, threads, options.async_yields));
  }
  return slots;
}

// A network that computes several batches side by side, each on its share of the threads.
class SharedNetwork {
 public:
  SharedNetwork(const ov::CompiledModel& compiled, const ModelInfo& info, int batches) {
    for (int i = 0; i < batches; ++i) slots_.emplace_back(compiled, info);
    for (Slot& slot : slots_) slot.WaitUntilMade();
  }

  Slot& slot(int number) { return slots_[static_cast<size_t>(number)]; }

 private:
  std::vector<Slot> slots_;
};

// The slots of sync batches: a network on the threads of a wide batch, and one on each slot's.
class SyncSlots {
 public:
  SyncSlots(const CompiledNetwork& network, const EngineOptions& options)
      : network_(network),
        threads_(options.threads),
        slots_(options.sync.slots),
        wide_slots_(options.sync.wide),
        wide_(OnSlots(wide_slots_)) {}

  // Gives wide batches more threads for as long as these pay. Measures: nothing else should run.
  void Widen() {
    while (const int wider = NextWideSlots(slots_, wide_slots_)) {
      SharedNetwork candidate = OnSlots(wider);
      const double ms = BestMs(wide_.slot(0));
      if (!WiderPays(ms, BestMs(candidate.slot(0)), wider / wide_slots_)) return;
      wide_ = std::move(candidate);
      wide_slots_ = wider;
    }
  }

  // The network of each slot's threads. The first call makes it, and others wait for that.
  // Thread-safe.
  SharedNetwork& OneSlot() {
    std::call_once(made_, [&] { one_slot_ = OnSlots(1); });
    return *one_slot_;
  }

  int slots() const { return slots_; }
  int wide_slots() const { return wide_slots_; }

  void Run(int slot, Width width, std::span<NetworkItem> items) {
    if (width == Width::kOneShare && wide_slots_ > 1) {
      OneSlot().slot(slot).Run(items);
    } else {
      wide_.slot(slot / wide_slots_).Run(items);
    }
  }

 private:
  SharedNetwork OnSlots(int each) const {
    const int batches = slots_ / each;
    return {network_.WithStreams(threads_, batches), network_.info(), batches};
  }

  // The time of a single empty image.
  double BestMs(Slot& slot) const {
    constexpr int kRounds = 4;
    const InputSize own{network_.info().input_width, network_.info().input_height};
    const std::vector<std::byte> pixels(size_t{3} * static_cast<size_t>(own.area()) *
                                        InputType(network_.info()).size());
    NetworkItem item{pixels.data(), own};
    double best = std::numeric_limits<double>::max();
    for (int round = 0; round < kRounds; ++round) {
      Stopwatch watch;
      slot.Run({&item, 1});
      best = std::min(best, watch.Lap());
    }
    return best;
  }

  const CompiledNetwork& network_;
  const int threads_;
  const int slots_;
  int wide_slots_;
  SharedNetwork wide_;
  std::once_flag made_;
  std::optional<SharedNetwork> one_slot_;
};

// As CompiledNetwork::Load. Beside other models on a thread of lower priority that ends with it,
// because an unprivileged thread cannot raise its priority again.
Result<CompiledNetwork> LoadCompiled(const std::string& path, const EngineOptions& options,
                                     CompiledNetwork::Source source) {
  if (!options.beside_others) return CompiledNetwork::Load(path, options, source);
  const auto load = [&] {
    (void)LowerThread(kLoadNice);
    return CompiledNetwork::Load(path, options, source);
  };
  return std::async(std::launch::async, load).get();
}

}  // namespace

// Only the network of wide sync batches is made at once. The others are made when their first batch
// comes: a service that only answers callers one by one, and a run that only does jobs, start
// sooner and need less memory. Beside other models all are made at once, because callers who are
// used to answers would wait for it.
struct OpenVinoNetwork::Slots {
  Slots(CompiledNetwork compiled, const EngineOptions& options)
      : network(std::move(compiled)),
        async(MakeAsyncSlots(network, options)),
        memory_before(AnonymousResidentBytes()),
        sync(network, options) {
    if (options.beside_others) {
      MakeAll();
    } else {
      const size_t bytes = std::max(AnonymousResidentBytes(), memory_before) - memory_before;
      later_bytes = bytes * (async.size() + (sync.wide_slots() > 1 ? 1 : 0));
    }
    sync.Widen();
  }

  void MakeAll() {
    std::vector<std::future<void>> made;
    for (const auto& slot : async) made.push_back(slot->StartMaking());
    if (sync.wide_slots() > 1) (void)sync.OneSlot();
    for (auto& slot : made) slot.get();
  }

  const CompiledNetwork network;
  AsyncSlots async;
  size_t memory_before;
  SyncSlots sync;
  size_t later_bytes = 0;  // an estimate of what the networks take that are not made yet
};

Result<std::unique_ptr<OpenVinoNetwork>> OpenVinoNetwork::Load(const std::string& path,
                                                               const EngineOptions& options) {
  const size_t memory_before = AnonymousResidentBytes();
  try {
    auto network = Make(path, options);
    if (!network.ok()) return network;
    // An estimate: other threads allocate and free at the same time.
    const size_t least = memory_before + (*network)->memory_bytes_;
    (*network)->memory_bytes_ =
        std::max(AnonymousResidentBytes(), least) - memory_before + (*network)->slots_->later_bytes;
    return network;
  } catch (const std::exception& error) {
    return Status(StatusCode::kInvalidModel, "The model cannot be loaded: " + ReasonOf(error));
  }
}

Result<std::unique_ptr<OpenVinoNetwork>> OpenVinoNetwork::Make(const std::string& path,
                                                               const EngineOptions& options) {
  using Source = CompiledNetwork::Source;
  auto network = LoadCompiled(path, options, options.anew ? Source::kFile : Source::kKeptOrFile);
  if (!network.ok()) return network.status();
  std::unique_ptr<Slots> slots;
  std::string fault;
  try {
    slots = std::make_unique<Slots>(*network, options);
  } catch (const std::exception& error) {
    if (!network->info().was_kept) throw;
    fault = network->info().kept_file + " cannot be used: " + ReasonOf(error);
    network = LoadCompiled(path, options, Source::kFile);
    if (!network.ok()) return network.status();
    slots = std::make_unique<Slots>(*network, options);
  }
  ModelInfo info = network->info();
  if (!fault.empty()) info.replaced.push_back(fault);
  std::unique_ptr<OpenVinoNetwork> made(
      new OpenVinoNetwork(std::move(info), network->in_use(), std::move(slots)));
  made->memory_bytes_ = network->file_bytes();
  return made;
}

OpenVinoNetwork::OpenVinoNetwork(ModelInfo info, std::shared_ptr<const ScopedFd> in_use,
                                 std::unique_ptr<Slots> slots)
    : info_(std::move(info)), in_use_(std::move(in_use)), slots_(std::move(slots)) {}

OpenVinoNetwork::~OpenVinoNetwork() = default;

int OpenVinoNetwork::slots(WorkClass work_class) const {
  return work_class == WorkClass::kSync ? slots_->sync.slots()
                                        : static_cast<int>(slots_->async.size());
}

int OpenVinoNetwork::wide_slots(WorkClass work_class) const {
  return work_class == WorkClass::kSync ? slots_->sync.wide_slots() : 1;
}

Status OpenVinoNetwork::Run(WorkClass work_class, int slot, Width width,
                            std::span<NetworkItem> items) {
  try {
    if (work_class == WorkClass::kSync) {
      slots_->sync.Run(slot, width, items);
    } else {
      slots_->async[static_cast<size_t>(slot)]->Run(items);
    }
    return {};
  } catch (const std::exception& error) {
    return {StatusCode::kDetectionFailed, "The network could not run: " + ReasonOf(error)};
  }
}

std::string OpenVinoVersion() { return ov::get_openvino_version().buildNumber; }

}  // namespace lattice
