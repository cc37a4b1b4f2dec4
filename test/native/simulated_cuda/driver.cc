// libcuda.so.1, as far as anybody asks it: which CUDA it serves.
#include <cuda_runtime_api.h>

extern "C" __attribute__((visibility("default"))) int cuDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return 0;
}
