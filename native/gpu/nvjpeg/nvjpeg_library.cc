#include "native/gpu/nvjpeg/nvjpeg_library.h"

#include <dlfcn.h>

#include <utility>
#include <vector>

namespace lattice {
namespace {

Status Unavailable(const std::string& sentence) { return {StatusCode::kGpuUnavailable, sentence}; }

const char* NameOf(nvjpegStatus_t status) {
  switch (status) {
    case NVJPEG_STATUS_NOT_INITIALIZED:
      return "not initialised";
    case NVJPEG_STATUS_INVALID_PARAMETER:
      return "invalid parameter";
    case NVJPEG_STATUS_BAD_JPEG:
      return "bad JPEG";
    case NVJPEG_STATUS_JPEG_NOT_SUPPORTED:
      return "JPEG not supported";
    case NVJPEG_STATUS_ALLOCATOR_FAILURE:
      return "allocator failure";
    case NVJPEG_STATUS_EXECUTION_FAILED:
      return "execution failed";
    case NVJPEG_STATUS_ARCH_MISMATCH:
      return "not available on this GPU";
    case NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED:
      return "implementation not supported";
    case NVJPEG_STATUS_INCOMPLETE_BITSTREAM:
      return "incomplete bitstream";
    default:
      return "internal error";
  }
}

}  // namespace

Status ToStatus(nvjpegStatus_t status, std::string_view doing) {
  if (status == NVJPEG_STATUS_SUCCESS) return {};
  std::string sentence = "nvJPEG: ";
  sentence.append(NameOf(status)).append(" (").append(std::to_string(status));
  sentence.append(", while ").append(doing).append(").");
  return Unavailable(sentence);
}

Result<const NvJpegLibrary*> NvJpegLibrary::Open() {
  // Never destroyed: decoders may still work when the process ends.
  static const auto& opened = *new Result<std::unique_ptr<NvJpegLibrary>>([] {
    // The version of the header first. The functions in use are the same in both.
    constexpr int kOther = NVJPEG_VER_MAJOR == 12 ? 13 : 12;
    std::vector<std::string> names;
    for (const int major : {NVJPEG_VER_MAJOR, kOther}) {
      names.push_back("libnvjpeg.so." + std::to_string(major));
    }
#ifdef LATTICE_NVJPEG_LIBRARIES
    // The toolkit's folder at build time; the loader's own paths come first.
    names.push_back(std::string(LATTICE_NVJPEG_LIBRARIES) + "/" + names.front());
#endif
    return OpenFirst(names);
  }());
  if (!opened.ok()) return opened.status();
  return static_cast<const NvJpegLibrary*>(opened->get());
}

Result<std::unique_ptr<NvJpegLibrary>> NvJpegLibrary::OpenFirst(
    std::span<const std::string> names) {
  void* handle = nullptr;
  std::string reason;
  for (const std::string& name : names) {
    handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) break;
    const char* error = dlerror();
    if (reason.empty() && error != nullptr) reason = error;
  }
  if (handle == nullptr) {
    return Unavailable("nvJPEG is missing: none of its libraries can be opened (" + reason +
                       "). Install NVIDIA's libnvjpeg package, or add its folder to "
                       "LD_LIBRARY_PATH.");
  }
  std::unique_ptr<NvJpegLibrary> library(new NvJpegLibrary());
  const Status found = library->FindFunctions(handle);
  if (!found.ok()) return found;
  return library;
}

Status NvJpegLibrary::FindFunctions(void* library) {
  NvJpegFunctions& f = functions_;
  std::string missing;
  const auto find = [&]<typename Function>(const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(library, name));
    if (*function == nullptr && missing.empty()) missing = name;
  };
  find("nvjpegCreateEx", &f.CreateEx);
  find("nvjpegDestroy", &f.Destroy);
  find("nvjpegGetHardwareDecoderInfo", &f.GetHardwareDecoderInfo);
  find("nvjpegJpegStateCreate", &f.JpegStateCreate);
  find("nvjpegJpegStateDestroy", &f.JpegStateDestroy);
  find("nvjpegJpegStreamCreate", &f.JpegStreamCreate);
  find("nvjpegJpegStreamDestroy", &f.JpegStreamDestroy);
  find("nvjpegJpegStreamParseHeader", &f.JpegStreamParseHeader);
  find("nvjpegJpegStreamGetFrameDimensions", &f.JpegStreamGetFrameDimensions);
  find("nvjpegJpegStreamGetChromaSubsampling", &f.JpegStreamGetChromaSubsampling);
  find("nvjpegDecodeBatchedSupported", &f.DecodeBatchedSupported);
  find("nvjpegDecodeBatchedPreAllocate", &f.DecodeBatchedPreAllocate);
  find("nvjpegDecodeBatchedInitialize", &f.DecodeBatchedInitialize);
  find("nvjpegDecodeBatched", &f.DecodeBatched);
  if (missing.empty()) return {};
  return Unavailable("The nvJPEG library found lacks " + missing +
                     ": it is too old. Install the one of CUDA 12 or 13.");
}

}  // namespace lattice
