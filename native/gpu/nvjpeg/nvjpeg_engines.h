// The JPEG engines of one GPU, by nvJPEG.
#ifndef LATTICE_GPU_NVJPEG_NVJPEG_ENGINES_H_
#define LATTICE_GPU_NVJPEG_NVJPEG_ENGINES_H_

#include <array>
#include <memory>
#include <mutex>
#include <type_traits>
#include <vector>

#include "native/base/watched_call.h"
#include "native/gpu/cuda/gpu_device.h"
#include "native/gpu/cuda/owners.h"
#include "native/gpu/jpeg/jpeg_engines.h"
#include "native/gpu/nvjpeg/nvjpeg_library.h"

namespace lattice {

// Destroys a handle of nvJPEG. Handles and states are bound to the GPU that was current when they
// were made, which is the thread's from then on: with another one nvJPEG promises nothing.
struct NvJpegDeleter {
  const NvJpegFunctions* functions = nullptr;
  int gpu = 0;
  void operator()(nvjpegHandle_t handle) const {
    (void)UseGpu(gpu);
    functions->Destroy(handle);
  }
  void operator()(nvjpegJpegState_t state) const {
    (void)UseGpu(gpu);
    functions->JpegStateDestroy(state);
  }
  void operator()(nvjpegJpegStream_t stream) const { functions->JpegStreamDestroy(stream); }
};
template <typename Handle>
using NvJpegOwned = std::unique_ptr<std::remove_pointer_t<Handle>, NvJpegDeleter>;

class NvJpegEngines final : public JpegEngines {
 public:
  // Makes `gpu`, which was listed, the thread's current GPU. kGpuUnavailable where it has no JPEG
  // engines. A batch that takes longer than `longest_batch` ends the process
  // (native/base/watched_call.h). `library` must outlive the engines.
  static Result<std::unique_ptr<NvJpegEngines>> Open(
      const NvJpegLibrary& library, int gpu, Clock::duration longest_batch = kLongestDeviceCall);

  int gpu() const override { return gpu_; }
  int count() const override { return count_; }
  bool Supports(const EncodedImage& encoded) override;
  std::shared_ptr<uint8_t> Allocate(size_t bytes) override;
  Status DecodeBatch(int place, std::span<const EngineJpeg> images) override;

 private:
  // Members end in the reverse order.
  struct Place {
    PinnedBuffer files;
    Stream stream;
    Event done;  // behind the last batch
    NvJpegOwned<nvjpegJpegState_t> state;
    size_t prepared_for = 0;  // images per batch
  };

  NvJpegEngines(const NvJpegLibrary& library, int gpu, Clock::duration longest_batch)
      : functions_(library.functions()), gpu_(gpu), longest_batch_(longest_batch) {}
  using HeaderReader = NvJpegOwned<nvjpegJpegStream_t>;  // of one file at a time

  Status OpenHandle();
  HeaderReader TakeReader();  // null if there is no memory for one
  void Return(HeaderReader reader);
  bool Reads(nvjpegJpegStream_t reader, const EncodedImage& encoded) const;
  Status CountEngines();
  Status OpenPlace(Place& place);
  // Replaces the place's memory for files.
  Status MakeRoom(Place& place, size_t file_bytes);
  Status QueueBatch(Place& place, std::span<const EngineJpeg> images);

  const NvJpegFunctions& functions_;
  const int gpu_;
  const Clock::duration longest_batch_;
  int count_ = 0;
  NvJpegOwned<nvjpegHandle_t> handle_;
  std::array<Place, kPlaces> places_;
  std::mutex mutex_;
  std::vector<HeaderReader> idle_readers_;  // guarded by the mutex
};

}  // namespace lattice

#endif  // LATTICE_GPU_NVJPEG_NVJPEG_ENGINES_H_
