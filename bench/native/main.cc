// lattice_gpu_bench: figures of the first usable GPU as JSON, a line each, for bench/gpu.
//
//   lattice_gpu_bench MODEL CACHE SIZE...
//
// Reads lines "BATCH ROUNDS" and answers each with BatchTimes of engines for batches of the sizes,
// and the bytes of the GPU that the rounds took.
//
// On a failure it prints the reason to the error output and ends with 1.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bench/native/slot_timer.h"
#include "native/gpu/cuda/gpu_device.h"
#include "native/gpu/tensorrt/opened_engine.h"
#include "native/gpu/tensorrt/tensorrt_builder.h"

namespace lattice {
namespace {

// `taken`: bytes of the GPU that the measured rounds took and did not give back.
void Print(const BatchTimes& times, size_t taken) {
  std::cout << "{\"batch\":" << times.batch << ",\"networkMs\":" << times.network_ms
            << ",\"copyMs\":" << times.copy_ms << ",\"letterboxMs\":" << times.letterbox_ms
            << ",\"boxesMs\":" << times.boxes_ms << ",\"wholeMs\":" << times.whole_ms
            << ",\"launchMs\":" << times.launch_ms << ",\"emptyMs\":" << times.empty_ms
            << ",\"takenBytes\":" << taken << "}" << std::endl;
}

// The first usable GPU, as LoadGpuEngine finds it.
Result<GpuDevice> FirstGpu() {
  auto gpus = ListGpus();
  if (!gpus.ok()) return gpus.status();
  for (GpuDevice& gpu : *gpus) {
    if (gpu.unusable.empty()) return std::move(gpu);
  }
  return Status(StatusCode::kGpuUnavailable, gpus->front().unusable);
}

Status TimeBatches(const std::string& path, const GpuEngineOptions& options) {
  const auto gpu = FirstGpu();
  if (!gpu.ok()) return gpu.status();
  const auto library = TensorRtLibrary::Open();
  if (!library.ok()) return library.status();
  auto model = ReadTensorRtModel(path, options.batches);
  if (!model.ok()) return model.status();
  const Status current = UseGpu(gpu->index);
  if (!current.ok()) return current;
  const auto runtime = (*library)->CreateRuntime();
  if (!runtime.ok()) return runtime.status();
  std::vector<OpenedEngine> engines;
  TensorRtSlotOptions wanted;
  for (const int batch : model->buckets) {
    auto engine = OpenTensorRtModel(**library, **runtime, *gpu, options, nullptr, batch, &*model);
    if (!engine.ok()) return engine.status();
    engines.push_back(*std::move(engine));
    wanted.engines.push_back({batch, engines.back().engine.get()});
  }
  const auto slot = TensorRtSlot::Create(*model, wanted);
  if (!slot.ok()) return slot.status();
  SlotTimer timer(**slot);
  for (std::string line; std::getline(std::cin, line);) {
    int batch = 1;
    int rounds = 1;
    std::istringstream(line) >> batch >> rounds;
    // The first round of a size takes the memory that the size needs once.
    const auto first = timer.Time(batch, 1);
    if (!first.ok()) return first.status();
    const size_t free_before = FreeGpuBytes();
    const auto times = timer.Time(batch, rounds);
    if (!times.ok()) return times.status();
    Print(*times, free_before - std::min(free_before, FreeGpuBytes()));
  }
  return {};
}

Status Answer(const std::vector<std::string>& words) {
  if (words.size() < 3) {
    return {StatusCode::kInternalError, "See the head of bench/native/main.cc for the arguments."};
  }
  GpuEngineOptions options;
  options.kept_folder = words[1];
  options.batches.clear();
  for (size_t i = 2; i < words.size(); ++i) options.batches.push_back(std::atoi(words[i].c_str()));
  return TimeBatches(words[0], options);
}

}  // namespace
}  // namespace lattice

int main(int count, char** arguments) {
  const lattice::Status status = lattice::Answer({arguments + 1, arguments + count});
  if (status.ok()) return 0;
  std::cerr << status.message() << std::endl;
  // A GPU that faulted or hangs may block whatever frees its memory.
  std::_Exit(1);
}
