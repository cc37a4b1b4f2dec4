#include "native/image/turbojpeg_decode.h"

#ifdef LATTICE_WITH_TURBOJPEG
#include <turbojpeg.h>
#endif

#include <cstddef>
#include <memory>
#include <type_traits>

namespace lattice {

#ifdef LATTICE_WITH_TURBOJPEG

namespace {

struct DestroyHandle {
  void operator()(void* handle) const { tjDestroy(handle); }
};

}  // namespace

std::optional<Image> DecodeByTurboJpeg(std::span<const uint8_t> bytes, const JpegHeader& header,
                                       std::pmr::memory_resource* memory, int reduction) {
  const bool plain = header.precision == 8 && header.process <= 2 &&
                     (header.components == 1 || header.components == 3);
  if (!plain) return std::nullopt;
  const std::unique_ptr<std::remove_pointer_t<tjhandle>, DestroyHandle> handle(tjInitDecompress());
  if (!handle) return std::nullopt;
  int width = 0;
  int height = 0;
  int subsampling = 0;
  int colour_space = 0;
  const auto size = static_cast<unsigned long>(bytes.size());  // NOLINT(google-runtime-int)
  if (tjDecompressHeader3(handle.get(), bytes.data(), size, &width, &height, &subsampling,
                          &colour_space) != 0) {
    return std::nullopt;
  }
  if (width != header.width || height != header.height) return std::nullopt;
  // The decoder picks the scale from the size that is asked for.
  width = (width + reduction - 1) / reduction;
  height = (height + reduction - 1) / reduction;
  const size_t pixels = static_cast<size_t>(width) * static_cast<size_t>(height);
  Image image{width, height, std::pmr::vector<uint8_t>(3 * pixels, memory)};
  // A warning means that damaged data was papered over: libvips then decides whether to refuse.
  const int flags = TJFLAG_ACCURATEDCT | TJFLAG_STOPONWARNING;
  if (tjDecompress2(handle.get(), bytes.data(), size, image.data.data(), width, 3 * width, height,
                    TJPF_RGB, flags) != 0) {
    return std::nullopt;
  }
  return image;
}

// The library cannot be asked for its version before release 3.
std::string TurboJpegName() { return "libjpeg-turbo"; }

#else

std::optional<Image> DecodeByTurboJpeg(std::span<const uint8_t>, const JpegHeader&,
                                       std::pmr::memory_resource*, int) {
  return std::nullopt;
}

std::string TurboJpegName() { return ""; }

#endif

}  // namespace lattice
