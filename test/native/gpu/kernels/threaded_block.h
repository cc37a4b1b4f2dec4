// Runs a block as the GPU does: every thread goes through the whole algorithm on its own and meets
// the others at the end of each step. Under ThreadSanitizer it shows steps in which one thread
// reads what another writes; a thread that left the common path would hang here as there.
#ifndef LATTICE_TEST_GPU_KERNELS_THREADED_BLOCK_H_
#define LATTICE_TEST_GPU_KERNELS_THREADED_BLOCK_H_

#include <atomic>
#include <barrier>
#include <cstdint>
#include <thread>
#include <vector>

namespace lattice {

class ThreadedBlock {
 public:
  ThreadedBlock(int thread, std::barrier<>* end_of_step)
      : thread_(thread), end_of_step_(end_of_step) {}

  template <typename Function>
  void Step(const Function& function) const {
    function(thread_);
    end_of_step_->arrive_and_wait();
  }
  int Increment(int* counter) const { return std::atomic_ref(*counter).fetch_add(1); }
  void SetBits(uint32_t* word, uint32_t bits) const { std::atomic_ref(*word).fetch_or(bits); }

 private:
  int thread_;
  std::barrier<>* end_of_step_;
};

// Calls algorithm(block) on each of a block's threads.
template <typename Algorithm>
void RunThreaded(int threads, const Algorithm& algorithm) {
  std::barrier<> end_of_step(threads);
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] { algorithm(ThreadedBlock(thread, &end_of_step)); });
  }
  for (std::thread& thread : running) thread.join();
}

}  // namespace lattice

#endif  // LATTICE_TEST_GPU_KERNELS_THREADED_BLOCK_H_
