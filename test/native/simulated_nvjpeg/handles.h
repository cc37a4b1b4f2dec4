// What nvJPEG's handles stand for.
#ifndef LATTICE_TEST_SIMULATED_NVJPEG_HANDLES_H_
#define LATTICE_TEST_SIMULATED_NVJPEG_HANDLES_H_

#include <nvjpeg.h>

#include <optional>

#include "test/native/simulated_nvjpeg/encoded_picture.h"

struct nvjpegHandle {
  int gpu = 0;  // the thread's current one when it was made
  nvjpegBackend_t backend = NVJPEG_BACKEND_DEFAULT;
  bool is_current() const;  // to use it on a thread with another GPU is undefined
  bool is_hardware() const { return backend == NVJPEG_BACKEND_HARDWARE; }
};

struct nvjpegJpegState {
  nvjpegHandle* handle = nullptr;
  int batch = 0;           // that it was prepared for
  void* memory = nullptr;  // of the GPU, as large as its largest picture asked for
  size_t bytes = 0;
};

struct nvjpegJpegStream {
  std::optional<lattice::simulated::PictureHeader> header;
};

#endif  // LATTICE_TEST_SIMULATED_NVJPEG_HANDLES_H_
