// The limits of a GPU, measured: the benchmark compares its other figures with them.
#ifndef LATTICE_BENCH_GPU_LIMITS_H_
#define LATTICE_BENCH_GPU_LIMITS_H_

#include <chrono>
#include <string>

#include "native/base/status.h"

namespace lattice {

// Medians. A GB is 10^9 bytes, a TFLOP 10^12 multiplications and additions.
struct GpuLimits {
  std::string tensorrt;        // version of the library in use
  std::string name;            // of the GPU
  double copy_gb_s = 0;        // within GPU memory, bytes read and bytes written together
  double upload_gb_s = 0;      // from pinned memory of the host
  double download_gb_s = 0;    // to pinned memory of the host
  double matrix_tflop_s = 0;   // FP16 matrix product as TensorRT computes it, the best size
  int matrix_size = 0;         // rows and columns of that product's weights
  std::string matrix_missing;  // why matrix_tflop_s is 0, else ""
};

// Measures the first of UsableGpus, each figure `rounds` times, at least once. Building the
// products takes most of it: sizes that are not built within `time` are left out. Needs about 3 GB
// of the GPU's memory meanwhile. kGpuUnavailable as UsableGpus, kOverloaded when memory is short.
Result<GpuLimits> MeasureGpuLimits(int rounds, std::chrono::milliseconds time);

}  // namespace lattice

#endif  // LATTICE_BENCH_GPU_LIMITS_H_
