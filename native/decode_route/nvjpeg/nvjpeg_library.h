// nvJPEG, opened at run time: an addon that was built with its header also starts where the library
// is missing.
#ifndef LATTICE_DECODE_ROUTE_NVJPEG_NVJPEG_LIBRARY_H_
#define LATTICE_DECODE_ROUTE_NVJPEG_NVJPEG_LIBRARY_H_

#include <nvjpeg.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "native/base/status.h"

namespace lattice {

// The functions in use, under their names without "nvjpeg".
struct NvJpegFunctions {
  decltype(&nvjpegGetProperty) GetProperty;
  decltype(&nvjpegCreateEx) CreateEx;
  decltype(&nvjpegDestroy) Destroy;
  decltype(&nvjpegGetHardwareDecoderInfo) GetHardwareDecoderInfo;
  decltype(&nvjpegJpegStateCreate) JpegStateCreate;
  decltype(&nvjpegJpegStateDestroy) JpegStateDestroy;
  decltype(&nvjpegJpegStreamCreate) JpegStreamCreate;
  decltype(&nvjpegJpegStreamDestroy) JpegStreamDestroy;
  decltype(&nvjpegJpegStreamParseHeader) JpegStreamParseHeader;
  decltype(&nvjpegJpegStreamGetFrameDimensions) JpegStreamGetFrameDimensions;
  decltype(&nvjpegJpegStreamGetJpegEncoding) JpegStreamGetJpegEncoding;
  decltype(&nvjpegJpegStreamGetChromaSubsampling) JpegStreamGetChromaSubsampling;
  decltype(&nvjpegDecodeBatchedSupported) DecodeBatchedSupported;
  decltype(&nvjpegDecodeBatchedPreAllocate) DecodeBatchedPreAllocate;
  decltype(&nvjpegDecodeBatchedInitialize) DecodeBatchedInitialize;
  decltype(&nvjpegDecodeBatched) DecodeBatched;
  decltype(&nvjpegDecode) Decode;
};

// Creating a handle is the business of whoever has listed GPUs before: without one it fails.
class NvJpegLibrary {
 public:
  // Opens it once for the process. kGpuUnavailable names what is missing and how to get it: no
  // library, one older than 12.0, one that lacks a function. Thread-safe.
  static Result<const NvJpegLibrary*> Open();
  // The same from the first of `names` that can be opened; for tests.
  static Result<std::unique_ptr<NvJpegLibrary>> OpenFirst(std::span<const std::string> names);

  const NvJpegFunctions& functions() const { return functions_; }
  // "13.0.1"
  const std::string& version() const { return version_; }

 private:
  NvJpegLibrary() = default;
  Status FindFunctions(void* library);
  Status ReadVersion();

  // The library is never closed: it keeps threads and static state.
  NvJpegFunctions functions_{};
  std::string version_;
};

// kOk for success; kInvalidImage and kUnsupportedImageFormat for the file, kOverloaded for memory,
// kGpuUnavailable for the GPU's kind, kInternalError else. `doing` ends "while ...".
Status ToStatus(nvjpegStatus_t status, std::string_view doing);

}  // namespace lattice

#endif  // LATTICE_DECODE_ROUTE_NVJPEG_NVJPEG_LIBRARY_H_
