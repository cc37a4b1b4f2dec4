// Simulated GPUs drawn at random, for tests of what holds on any of them.
#ifndef LATTICE_TEST_SCHEDULER_RANDOM_GPUS_H_
#define LATTICE_TEST_SCHEDULER_RANDOM_GPUS_H_

#include <cstddef>
#include <random>

#include "test/native/scheduler/simulated_engine.h"

namespace lattice::test {

struct GpuBounds {
  size_t most_gpus;
  unsigned most_tenths;      // of a millisecond that a slice takes
  unsigned unstable_one_in;  // GPUs
  unsigned binds_one_in;     // engines
};

// The rest is as SimulatedEngine::Options has it.
inline SimulatedEngine::Options RandomGpus(std::mt19937& random, const GpuBounds& bounds) {
  SimulatedEngine::Options options;
  const size_t gpus = 1 + random() % bounds.most_gpus;
  for (size_t place = 0; place < gpus; ++place) {
    options.slice_ms.push_back(static_cast<double>(1 + random() % bounds.most_tenths) / 10);
    if (random() % bounds.unstable_one_in == 0) options.unstable.insert(static_cast<int>(place));
  }
  options.max_batch = 1 + static_cast<int>(random() % 6);
  options.slots = 1 + static_cast<int>(random() % 2);
  options.binds = random() % bounds.binds_one_in == 0;
  return options;
}

}  // namespace lattice::test

#endif  // LATTICE_TEST_SCHEDULER_RANDOM_GPUS_H_
