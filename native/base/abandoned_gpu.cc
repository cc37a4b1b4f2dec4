#include "native/base/abandoned_gpu.h"

#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

namespace lattice {
namespace {

std::atomic<bool> abandoned = false;

// Registered with on_exit, the one kind of exit handler that receives the status.
void EndAtOnce(int status, void*) {
  std::fflush(nullptr);
  _exit(status);
}

}  // namespace

void AbandonGpu() {
  // Handlers run in reverse order of registration: this one before the driver's.
  if (!abandoned.exchange(true)) (void)on_exit(EndAtOnce, nullptr);
}

bool IsGpuAbandoned() { return abandoned; }

}  // namespace lattice
