// The simulated GPUs and all memory that they know.
#ifndef LATTICE_TEST_SIMULATED_CUDA_MACHINE_H_
#define LATTICE_TEST_SIMULATED_CUDA_MACHINE_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "test/native/simulated_cuda/simulated_gpus.h"

namespace lattice::simulated {

inline constexpr int kHost = -1;

struct Gpu {
  GpuKind kind;
  cudaError_t fault = cudaSuccess;  // for good
  cudaError_t next_fault = cudaSuccess;
  int passing = 0;  // pieces of work before next_fault
  bool hangs = false;
  std::map<Call, int> hanging_calls = {};  // and those that still return
  size_t used = 0;
  size_t done = 0;                // pieces of work
  size_t copied = 0;              // bytes that came from the host
  std::set<uint64_t> to_do = {};  // pieces of work, by their number
};

struct Memory {
  size_t bytes = 0;
  int gpu = kHost;         // kHost: pinned
  bool is_pooled = false;  // of cudaMallocAsync
  bool is_there = true;    // false until its stream was synchronised
};

// Thread-safe; lives as long as the process, since threads of hanging streams do.
class Machine {
 public:
  static Machine& Get();

  void PlugIn(const std::vector<GpuKind>& gpus);
  int count();
  GpuKind KindOf(int gpu);

  // The answer to `call`: a failure that was asked for, the fault of this GPU, else cudaSuccess.
  // Blocks while such calls hang.
  cudaError_t Answer(int gpu);
  cudaError_t Answer(Call call, int gpu);
  cudaError_t AskedAnswer(Call call);  // of a call on no GPU
  void FailCall(Call call, cudaError_t error, int passing);
  void FaultWork(int gpu, cudaError_t error, int passing);
  void Fault(int gpu, cudaError_t error);
  void SetHang(int gpu, bool hangs);
  void HangCall(Call call, int gpu, int passing);

  // Around each piece of work of a stream, from when it is queued. BeginWork blocks while the GPU
  // hangs and is false where it has faulted.
  uint64_t QueueWork(int gpu);
  bool BeginWork(int gpu);
  void EndWork(int gpu, uint64_t number, cudaError_t answer);
  // Blocks until what streams of the GPU have to do now is done, for ever where it hangs.
  void AwaitWork(int gpu);

  cudaError_t Allocate(int gpu, size_t bytes, void** memory, bool is_pooled = false);
  cudaError_t Free(int gpu, void* memory);
  // The stream that pooled memory was asked for in has reached it.
  void Reach(const void* memory);
  // The allocation that is there and holds all of these bytes.
  std::optional<Memory> Find(const void* memory, size_t bytes);
  void CountCopied(int gpu, size_t bytes);
  size_t Used(int gpu);
  size_t Done(int gpu);
  size_t Asked(Call call);
  size_t Copied(int gpu);

 private:
  struct AskedFailure {
    cudaError_t error;
    int passing;
  };

  Machine();
  cudaError_t TakeFailure(Call call);  // under the mutex

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Gpu> gpus_;
  uint64_t last_number_ = 0;  // of a piece of work
  std::map<uintptr_t, Memory> memory_;
  std::map<Call, AskedFailure> failures_;
  std::map<Call, size_t> asked_;  // calls so far
};

}  // namespace lattice::simulated

#endif  // LATTICE_TEST_SIMULATED_CUDA_MACHINE_H_
