#include "native/base/left_gpus.h"

#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace lattice {
namespace {

// More than one machine has; those beyond share the last bit's fate with it.
constexpr size_t kMostGpus = 1024;
constexpr size_t kBits = 64;

std::array<std::atomic<uint64_t>, kMostGpus / kBits>& Left() {
  static std::array<std::atomic<uint64_t>, kMostGpus / kBits> left{};
  return left;
}

std::atomic<bool> any_left = false;

size_t BitOf(int gpu) {
  const auto index = static_cast<size_t>(gpu);
  return index < kMostGpus ? index : kMostGpus - 1;
}

// Of the C library that NVIDIA's libraries need: the one exit handler that is told the status.
void EndAtOnce(int status, void*) {
  std::fflush(nullptr);
  _exit(status);
}

}  // namespace

void LeaveGpu(int gpu) {
  if (gpu < 0) return;
  const size_t bit = BitOf(gpu);
  Left()[bit / kBits] |= uint64_t{1} << bit % kBits;
  // Handlers run in the reverse order of their registration: this one before the driver's.
  if (!any_left.exchange(true)) (void)on_exit(EndAtOnce, nullptr);
}

bool IsGpuLeft(int gpu) {
  if (gpu < 0 || !any_left) return false;
  const size_t bit = BitOf(gpu);
  return (Left()[bit / kBits] >> bit % kBits & 1) != 0;
}

bool IsAnyGpuLeft() { return any_left; }

}  // namespace lattice
