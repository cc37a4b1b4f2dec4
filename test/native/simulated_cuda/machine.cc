#include "test/native/simulated_cuda/machine.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "test/native/simulated_cuda/stream.h"

namespace lattice::simulated {
namespace {

constexpr size_t kAlignment = 256;
constexpr int kRubbish = 0xA5;

uintptr_t AddressOf(const void* memory) { return reinterpret_cast<uintptr_t>(memory); }

// A variable's "GPU:PASSING", for one of `count` GPUs.
struct Asked {
  size_t gpu;
  int passing;
};
std::optional<Asked> AskedBy(const char* variable, int count) {
  const char* const text = std::getenv(variable);
  int gpu = 0;
  int passing = 0;
  if (text == nullptr || std::sscanf(text, "%d:%d", &gpu, &passing) != 2) return std::nullopt;
  if (gpu < 0 || gpu >= count) return std::nullopt;
  return Asked{static_cast<size_t>(gpu), passing};
}

}  // namespace

Machine& Machine::Get() {
  static auto* machine = new Machine();
  return *machine;
}

Machine::Machine() {
  const char* asked = std::getenv("LATTICE_SIMULATED_GPUS");
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const bool hidden = visible != nullptr && *visible == '\0';
  const int count = hidden ? 0 : asked == nullptr ? 1 : std::atoi(asked);
  for (int i = 0; i < count; ++i) gpus_.push_back({});
  if (const auto fault = AskedBy("LATTICE_SIMULATED_FAULT", count)) {
    gpus_[fault->gpu].next_fault = cudaErrorIllegalAddress;
    gpus_[fault->gpu].passing = fault->passing;
  }
  if (const auto hang = AskedBy("LATTICE_SIMULATED_HANG", count)) {
    gpus_[hang->gpu].hanging_calls[Call::kGraphLaunch] = hang->passing;
  }
}

void Machine::PlugIn(const std::vector<GpuKind>& gpus) {
  const std::lock_guard lock(mutex_);
  gpus_.clear();
  for (const GpuKind& kind : gpus) gpus_.push_back({kind});
  failures_.clear();
  changed_.notify_all();
}

int Machine::count() {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(gpus_.size());
}

GpuKind Machine::KindOf(int gpu) {
  const std::lock_guard lock(mutex_);
  return gpus_.at(static_cast<size_t>(gpu)).kind;
}

cudaError_t Machine::Answer(int gpu) {
  const std::lock_guard lock(mutex_);
  return gpus_.empty() ? cudaErrorNoDevice : gpus_.at(static_cast<size_t>(gpu)).fault;
}

cudaError_t Machine::Answer(Call call, int gpu) {
  std::unique_lock lock(mutex_);
  ++asked_[call];
  const auto index = static_cast<size_t>(gpu);
  auto& hanging = gpus_.at(index).hanging_calls;
  const auto hang = hanging.find(call);
  if (hang != hanging.end() && hang->second-- <= 0) {
    changed_.wait(
        lock, [&] { return index >= gpus_.size() || !gpus_[index].hanging_calls.contains(call); });
  }
  const cudaError_t fault = gpus_.at(index).fault;
  return fault != cudaSuccess ? fault : TakeFailure(call);
}

cudaError_t Machine::AskedAnswer(Call call) {
  const std::lock_guard lock(mutex_);
  return TakeFailure(call);
}

cudaError_t Machine::TakeFailure(Call call) {
  const auto asked = failures_.find(call);
  if (asked == failures_.end() || asked->second.passing-- > 0) return cudaSuccess;
  const cudaError_t error = asked->second.error;
  failures_.erase(asked);
  return error;
}

void Machine::FailCall(Call call, cudaError_t error, int passing) {
  const std::lock_guard lock(mutex_);
  failures_[call] = {error, passing};
}

void Machine::FaultWork(int gpu, cudaError_t error, int passing) {
  const std::lock_guard lock(mutex_);
  Gpu& there = gpus_.at(static_cast<size_t>(gpu));
  there.next_fault = error;
  there.passing = passing;
}

void Machine::Fault(int gpu, cudaError_t error) {
  const std::lock_guard lock(mutex_);
  Gpu& there = gpus_.at(static_cast<size_t>(gpu));
  if (there.fault == cudaSuccess) there.fault = error;
}

void Machine::SetHang(int gpu, bool hangs) {
  const std::lock_guard lock(mutex_);
  Gpu& there = gpus_.at(static_cast<size_t>(gpu));
  there.hangs = hangs;
  if (!hangs) there.hanging_calls.clear();
  changed_.notify_all();
}

void Machine::HangCall(Call call, int gpu, int passing) {
  const std::lock_guard lock(mutex_);
  gpus_.at(static_cast<size_t>(gpu)).hanging_calls[call] = passing;
}

bool Machine::BeginWork(int gpu) {
  std::unique_lock lock(mutex_);
  const auto index = static_cast<size_t>(gpu);
  changed_.wait(lock, [&] { return index >= gpus_.size() || !gpus_[index].hangs; });
  if (index >= gpus_.size()) return false;
  Gpu& there = gpus_[index];
  if (there.next_fault != cudaSuccess && there.passing-- <= 0) {
    there.fault = std::exchange(there.next_fault, cudaSuccess);
  }
  return there.fault == cudaSuccess;
}

uint64_t Machine::QueueWork(int gpu) {
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<size_t>(gpu);
  const uint64_t number = ++last_number_;
  if (index >= gpus_.size()) return number;
  Gpu& there = gpus_[index];
  there.to_do.insert(number);
  return number;
}

void Machine::EndWork(int gpu, uint64_t number, cudaError_t answer) {
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<size_t>(gpu);
  if (index >= gpus_.size()) return;
  Gpu& there = gpus_[index];
  ++there.done;
  if (answer != cudaSuccess && there.fault == cudaSuccess) there.fault = answer;
  // Nothing of a GPU that was plugged in afterwards.
  if (there.to_do.erase(number) == 0) return;
  changed_.notify_all();
}

void Machine::AwaitWork(int gpu) {
  std::unique_lock lock(mutex_);
  const auto index = static_cast<size_t>(gpu);
  const uint64_t last = last_number_;
  changed_.wait(lock, [&] {
    return index >= gpus_.size() || gpus_[index].to_do.empty() ||
           *gpus_[index].to_do.begin() > last;
  });
}

cudaError_t Machine::Allocate(int gpu, size_t bytes, void** memory, bool is_pooled) {
  const std::lock_guard lock(mutex_);
  if (gpu != kHost) {
    Gpu& there = gpus_.at(static_cast<size_t>(gpu));
    if (bytes > there.kind.memory_bytes - there.used) return cudaErrorMemoryAllocation;
    there.used += bytes;
  }
  const size_t rounded = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  *memory = std::aligned_alloc(kAlignment, rounded);
  if (*memory == nullptr) return cudaErrorMemoryAllocation;
  std::memset(*memory, kRubbish, rounded);
  memory_[AddressOf(*memory)] = {bytes, gpu, is_pooled, !is_pooled};
  return cudaSuccess;
}

void Machine::Reach(const void* memory) {
  const std::lock_guard lock(mutex_);
  memory_.at(AddressOf(memory)).is_there = true;
}

cudaError_t Machine::Free(int gpu, void* memory) {
  const std::lock_guard lock(mutex_);
  const auto found = memory_.find(AddressOf(memory));
  if (found == memory_.end() || (found->second.gpu == kHost) != (gpu == kHost)) {
    return cudaErrorInvalidValue;
  }
  const auto owner = static_cast<size_t>(found->second.gpu);
  if (found->second.gpu != kHost && owner < gpus_.size()) gpus_[owner].used -= found->second.bytes;
  std::memset(memory, kRubbish, found->second.bytes);
  memory_.erase(found);
  std::free(memory);
  return cudaSuccess;
}

std::optional<Memory> Machine::Find(const void* memory, size_t bytes) {
  const std::lock_guard lock(mutex_);
  auto after = memory_.upper_bound(AddressOf(memory));
  if (after == memory_.begin()) return std::nullopt;
  const auto& [start, found] = *--after;
  const size_t offset = AddressOf(memory) - start;
  if (!found.is_there || offset > found.bytes || bytes > found.bytes - offset) return std::nullopt;
  return found;
}

void Machine::CountCopied(int gpu, size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<size_t>(gpu);
  if (index < gpus_.size()) gpus_[index].copied += bytes;
}

size_t Machine::Used(int gpu) {
  const std::lock_guard lock(mutex_);
  if (gpu != kHost) return gpus_.at(static_cast<size_t>(gpu)).used;
  size_t pinned = 0;
  for (const auto& [start, memory] : memory_) pinned += memory.gpu == kHost ? memory.bytes : 0;
  return pinned;
}

size_t Machine::Done(int gpu) {
  const std::lock_guard lock(mutex_);
  return gpus_.at(static_cast<size_t>(gpu)).done;
}

size_t Machine::Asked(Call call) {
  const std::lock_guard lock(mutex_);
  return asked_[call];
}

size_t Machine::Copied(int gpu) {
  const std::lock_guard lock(mutex_);
  return gpus_.at(static_cast<size_t>(gpu)).copied;
}

void PlugIn(const std::vector<GpuKind>& gpus) { Machine::Get().PlugIn(gpus); }
void FailCall(Call call, cudaError_t error, int passing) {
  Machine::Get().FailCall(call, error, passing);
}
void FaultWork(int gpu, cudaError_t error, int passing) {
  Machine::Get().FaultWork(gpu, error, passing);
}
void Hang(int gpu) { Machine::Get().SetHang(gpu, true); }
void HangCall(Call call, int gpu, int passing) { Machine::Get().HangCall(call, gpu, passing); }
void Release(int gpu) { Machine::Get().SetHang(gpu, false); }
size_t WorkDone(int gpu) { return Machine::Get().Done(gpu); }
size_t CopiedBytes(int gpu) { return Machine::Get().Copied(gpu); }
size_t UsedBytes(int gpu) { return Machine::Get().Used(gpu); }
size_t PinnedBytes() { return Machine::Get().Used(kHost); }
size_t CallsOf(Call call) { return Machine::Get().Asked(call); }

unsigned JpegEngines(int gpu) {
  Machine& machine = Machine::Get();
  return gpu < machine.count() ? machine.KindOf(gpu).jpeg_engines : 0;
}

cudaError_t Answer(Call call) { return Machine::Get().Answer(call, ThisThread().gpu); }

bool IsOnGpu(const void* memory, size_t bytes, int gpu) {
  const auto found = Machine::Get().Find(memory, bytes);
  return found && found->gpu == gpu;
}

}  // namespace lattice::simulated
