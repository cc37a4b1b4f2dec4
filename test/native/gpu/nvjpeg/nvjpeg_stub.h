// The answers of the stub library, set by a test.
#ifndef LATTICE_TEST_GPU_NVJPEG_NVJPEG_STUB_H_
#define LATTICE_TEST_GPU_NVJPEG_NVJPEG_STUB_H_

#include <nvjpeg.h>

namespace lattice::test {

struct NvJpegStub {
  nvjpegStatus_t create = NVJPEG_STATUS_SUCCESS;
  nvjpegStatus_t engine_info = NVJPEG_STATUS_SUCCESS;
  unsigned engines = 7;
  nvjpegStatus_t parse = NVJPEG_STATUS_SUCCESS;
  unsigned width = 640;
  unsigned height = 480;
  nvjpegChromaSubsampling_t sampling = NVJPEG_CSS_420;
  int unsupported = 0;  // of nvjpegDecodeBatchedSupported
  void (*while_parsing)() = nullptr;
  // Arguments and effects of the calls to the stub.
  nvjpegBackend_t backend = NVJPEG_BACKEND_DEFAULT;
  unsigned flags = 0;
  int open_handles = 0;  // created and not destroyed, of any kind
};

}  // namespace lattice::test

#endif  // LATTICE_TEST_GPU_NVJPEG_NVJPEG_STUB_H_
