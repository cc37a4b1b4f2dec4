// The objects behind the runtime's handles: streams, events, graphs.
#ifndef LATTICE_TEST_SIMULATED_CUDA_STREAM_H_
#define LATTICE_TEST_SIMULATED_CUDA_STREAM_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "test/native/simulated_cuda/simulated_gpus.h"

namespace lattice::simulated {

// The current GPU of a thread, and the failure that it has not asked for yet.
struct ThreadState {
  int gpu = 0;
  cudaError_t last = cudaSuccess;
  cudaStream_t recording = nullptr;
  std::vector<void*> asked_for;  // in its own stream, since that was synchronised
};
ThreadState& ThisThread();

// Gives `error` back and remembers it for cudaGetLastError.
cudaError_t Remembered(cudaError_t error);

// Where this thread records, the call that breaks the recording: allocating, freeing, waiting.
cudaError_t BreakRecording();

// A mark; counts Record calls, so that a wait means the last one before it.
struct EventState {
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t recorded = 0;
  uint64_t reached = 0;
  std::chrono::steady_clock::time_point at;

  bool Reached();
  void Await(uint64_t which);
};

// Work in order on a thread of its own.
class StreamState : public std::enable_shared_from_this<StreamState> {
 public:
  explicit StreamState(int gpu) : gpu_(gpu) {}
  void Start();
  void Push(Work work, bool always);
  void AwaitIdle();
  bool Idle();
  void Stop();  // after what is queued

 private:
  struct Item {
    Work work;
    bool always;  // on a faulted GPU too: marks, which others wait for
    uint64_t number;
  };
  void Run();

  const int gpu_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  bool working_ = false;
  bool stopped_ = false;
};

}  // namespace lattice::simulated

struct CUstream_st {
  int gpu = 0;
  std::shared_ptr<lattice::simulated::StreamState> state;
  std::unique_ptr<CUgraph_st> recorded;  // while it records
  bool broken = false;                   // what it records
};

struct CUevent_st {
  int gpu = 0;
  bool timed = false;
  std::shared_ptr<lattice::simulated::EventState> state;
};

struct CUgraph_st {
  int gpu = 0;
  std::vector<lattice::simulated::Work> work;
};

struct CUgraphExec_st {
  int gpu = 0;
  std::vector<lattice::simulated::Work> work;
};

#endif  // LATTICE_TEST_SIMULATED_CUDA_STREAM_H_
