// The decode routes of this machine's GPUs. Declared for every build; one without CUDA or nvJPEG's
// header has none.
#ifndef LATTICE_DECODE_ROUTE_NVJPEG_GPU_ROUTES_H_
#define LATTICE_DECODE_ROUTE_NVJPEG_GPU_ROUTES_H_

#include <memory>
#include <string>
#include <vector>

#include "native/decode_route/decode_route.h"

namespace lattice {

inline constexpr char kNvJpegHardware[] = "nvjpeg hardware";  // the JPEG engines of a GPU
inline constexpr char kNvJpegCuda[] = "nvjpeg cuda";          // its kernels

struct GpuRoutes {
  std::vector<std::unique_ptr<DecodeRoute>> routes;
  // Why GPUs lack a route, a sentence each.
  std::vector<std::string> missing;
};

// Two routes for each GPU that can be used, at most `most` in all, less what is not there or not
// among the names of `allowed`, which may be empty for all. Opens nvJPEG, creates a context on each
// GPU and decodes a picture on each route, a few tenths of a second; afterwards any GPU may be the
// thread's current one. Never fails, and touches no GPU where none can be used. After
// InitDecoders.
GpuRoutes OpenGpuRoutes(const std::vector<std::string>& allowed, size_t most);

}  // namespace lattice

#endif  // LATTICE_DECODE_ROUTE_NVJPEG_GPU_ROUTES_H_
