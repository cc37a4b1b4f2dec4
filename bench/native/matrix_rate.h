// How fast a GPU multiplies FP16 matrices through TensorRT.
#ifndef LATTICE_BENCH_MATRIX_RATE_H_
#define LATTICE_BENCH_MATRIX_RATE_H_

#include "native/base/status.h"
#include "native/base/stopwatch.h"
#include "native/gpu/cuda/owners.h"
#include "native/gpu/tensorrt/tensorrt_library.h"

namespace lattice {

// TFLOP/s of the thread's current GPU with MatrixProductModel(size), the median of `rounds`.
// kCancelled when the product was not built by `until`; codes of BuildTensorRtPlan, kOverloaded
// when memory is short.
Result<double> MeasureMatrixRate(const TensorRtLibrary& library, const Stream& stream, int size,
                                 int rounds, Clock::time_point until);

}  // namespace lattice

#endif  // LATTICE_BENCH_MATRIX_RATE_H_
