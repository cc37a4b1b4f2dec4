// The objects that nvJPEG's handles point to.
#ifndef LATTICE_TEST_SIMULATED_NVJPEG_HANDLES_H_
#define LATTICE_TEST_SIMULATED_NVJPEG_HANDLES_H_

#include <nvjpeg.h>

#include <optional>

#include "test/native/simulated_nvjpeg/encoded_picture.h"

struct nvjpegHandle {
  int gpu = 0;              // the thread's current one when it was made
  bool is_current() const;  // to use it on a thread with another GPU is undefined
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
