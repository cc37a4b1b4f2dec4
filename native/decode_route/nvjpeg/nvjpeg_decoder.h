// nvJPEG's two decoders on one GPU, behind the seam of the routes.
#ifndef LATTICE_DECODE_ROUTE_NVJPEG_NVJPEG_DECODER_H_
#define LATTICE_DECODE_ROUTE_NVJPEG_NVJPEG_DECODER_H_

#include <memory>
#include <mutex>
#include <type_traits>

#include "native/base/abandoned_gpu.h"
#include "native/cuda/gpu_device.h"
#include "native/decode_route/nvjpeg/nvjpeg_device.h"
#include "native/decode_route/nvjpeg/nvjpeg_library.h"

namespace lattice {

// Destroys a handle of nvJPEG. Handles and states are bound to the GPU that was current when they
// were made: with another one nvJPEG promises nothing.
struct NvJpegDeleter {
  const NvJpegFunctions* functions = nullptr;
  int gpu = 0;
  void operator()(nvjpegHandle_t handle) const { (void)On(functions->Destroy, handle); }
  void operator()(nvjpegJpegState_t state) const { (void)On(functions->JpegStateDestroy, state); }
  void operator()(nvjpegJpegStream_t stream) const {
    if (!IsGpuAbandoned()) functions->JpegStreamDestroy(stream);
  }

 private:
  template <typename Function, typename Handle>
  nvjpegStatus_t On(Function destroy, Handle handle) const {
    if (IsGpuAbandoned()) return NVJPEG_STATUS_SUCCESS;
    const ScopedGpu current(gpu);
    return destroy(handle);
  }
};
template <typename Handle>
using NvJpegOwned = std::unique_ptr<std::remove_pointer_t<Handle>, NvJpegDeleter>;

class NvJpegDecoder final : public NvJpegDevice,
                            public std::enable_shared_from_this<NvJpegDecoder> {
 public:
  enum class Kind { kHardware, kCuda };

  // For GPU `gpu`, which was listed and is the thread's current one. kGpuUnavailable where it has
  // no JPEG engines for kHardware. `library` outlives the decoder.
  static Result<std::shared_ptr<NvJpegDecoder>> Open(const NvJpegLibrary& library, int gpu,
                                                     Kind kind);

  bool Supports(const EncodedImage& encoded) override;

  // JPEG engines of the GPU; 0 for kCuda.
  int engines() const { return engines_; }
  // Keeps the decoder. With the GPU as the thread's current one.
  Result<std::unique_ptr<NvJpegLane>> MakeLane();

 private:
  friend class NvJpegDecoderLane;

  NvJpegDecoder(const NvJpegLibrary& library, int gpu, Kind kind)
      : functions_(library.functions()), gpu_(gpu), kind_(kind) {}
  Status CountEngines();

  const NvJpegFunctions& functions_;
  const int gpu_;
  const Kind kind_;
  int engines_ = 0;
  NvJpegOwned<nvjpegHandle_t> handle_;
  std::mutex mutex_;
  NvJpegOwned<nvjpegJpegStream_t> header_;  // of the last file asked for; guarded by the mutex
};

}  // namespace lattice

#endif  // LATTICE_DECODE_ROUTE_NVJPEG_NVJPEG_DECODER_H_
