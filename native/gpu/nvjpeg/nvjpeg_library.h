// nvJPEG, opened at run time, so that one addon also starts where the library is missing.
#ifndef LATTICE_GPU_NVJPEG_NVJPEG_LIBRARY_H_
#define LATTICE_GPU_NVJPEG_NVJPEG_LIBRARY_H_

#include <nvjpeg.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "native/base/status.h"

namespace lattice {

// The functions in use, under their names without "nvjpeg".
struct NvJpegFunctions {
  decltype(&nvjpegCreateEx) CreateEx;
  decltype(&nvjpegDestroy) Destroy;
  decltype(&nvjpegGetHardwareDecoderInfo) GetHardwareDecoderInfo;
  decltype(&nvjpegJpegStateCreate) JpegStateCreate;
  decltype(&nvjpegJpegStateDestroy) JpegStateDestroy;
  decltype(&nvjpegJpegStreamCreate) JpegStreamCreate;
  decltype(&nvjpegJpegStreamDestroy) JpegStreamDestroy;
  decltype(&nvjpegJpegStreamParseHeader) JpegStreamParseHeader;
  decltype(&nvjpegJpegStreamGetFrameDimensions) JpegStreamGetFrameDimensions;
  decltype(&nvjpegJpegStreamGetChromaSubsampling) JpegStreamGetChromaSubsampling;
  decltype(&nvjpegDecodeBatchedSupported) DecodeBatchedSupported;
  decltype(&nvjpegDecodeBatchedPreAllocate) DecodeBatchedPreAllocate;
  decltype(&nvjpegDecodeBatchedInitialize) DecodeBatchedInitialize;
  decltype(&nvjpegDecodeBatched) DecodeBatched;
};

// Open it only after a GPU was found: without one, making a handle fails.
class NvJpegLibrary {
 public:
  // Opens version 12 or 13 once for the process. kGpuUnavailable where there is no library or it
  // lacks a function; the message says what to install. Thread-safe.
  static Result<const NvJpegLibrary*> Open();
  // The same from the first of `names` that can be opened; for tests.
  static Result<std::unique_ptr<NvJpegLibrary>> OpenFirst(std::span<const std::string> names);

  const NvJpegFunctions& functions() const { return functions_; }

 private:
  NvJpegLibrary() = default;
  Status FindFunctions(void* library);

  // The library is never closed: it keeps threads and static state.
  NvJpegFunctions functions_{};
};

// kOk, or kGpuUnavailable with a message that ends "while `doing`".
Status ToStatus(nvjpegStatus_t status, std::string_view doing);

}  // namespace lattice

#endif  // LATTICE_GPU_NVJPEG_NVJPEG_LIBRARY_H_
