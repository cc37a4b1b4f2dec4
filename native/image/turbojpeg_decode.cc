#include "native/image/turbojpeg_decode.h"

#ifdef LATTICE_WITH_TURBOJPEG
#include <turbojpeg.h>
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace lattice {

#ifdef LATTICE_WITH_TURBOJPEG

namespace {

struct DestroyHandle {
  void operator()(void* handle) const { tjDestroy(handle); }
};
using Decompressor = std::unique_ptr<std::remove_pointer_t<tjhandle>, DestroyHandle>;

struct EncodedJpeg {
  std::span<const uint8_t> bytes;
  int width = 0;
  int height = 0;
  int subsampling = 0;
  int colour_space = 0;
  OnWarning on_warning = OnWarning::kRefuse;

  int flags() const {
    return TJFLAG_ACCURATEDCT | (on_warning == OnWarning::kRefuse ? TJFLAG_STOPONWARNING : 0);
  }
  // Of a call that did not return 0.
  bool accepts_error_of(tjhandle handle) const {
    return on_warning == OnWarning::kAccept && tjGetErrorCode(handle) == TJERR_WARNING;
  }

  unsigned long size() const {                        // NOLINT(google-runtime-int)
    return static_cast<unsigned long>(bytes.size());  // NOLINT(google-runtime-int)
  }
};

// The library also takes other factors of the same ratio for 4:2:0, but does not document how it
// then interpolates chroma.
bool HoldsPlanes(const EncodedJpeg& jpeg, const JpegHeader& header) {
  if (jpeg.subsampling == TJSAMP_GRAY) {
    return jpeg.colour_space == TJCS_GRAY && header.sampling[0] == 0x11;
  }
  return jpeg.subsampling == TJSAMP_420 && jpeg.colour_space == TJCS_YCbCr &&
         header.sampling == std::array<uint8_t, 3>{0x22, 0x11, 0x11};
}

std::optional<Image> DecodePlanes(tjhandle handle, const EncodedJpeg& jpeg,
                                  std::pmr::memory_resource* memory) {
  const PackedPlanes packed = PackPlanes(PixelLayout::kYuv420, jpeg.width, jpeg.height);
  Image image{jpeg.width, jpeg.height, ByteBuffer(packed.bytes, memory), PixelLayout::kYuv420};
  if (jpeg.subsampling == TJSAMP_GRAY) {
    // The decoder writes no chroma of a grey file.
    constexpr uint8_t kNoColour = 128;
    std::fill(image.data.begin() + static_cast<ptrdiff_t>(packed.offsets[1]), image.data.end(),
              kNoColour);
  }
  unsigned char* planes[3];
  for (size_t i = 0; i < 3; ++i) planes[i] = image.data.data() + packed.offsets[i];
  int pitches[3];
  std::copy(packed.pitches, packed.pitches + 3, pitches);
  if (tjDecompressToYUVPlanes(handle, jpeg.bytes.data(), jpeg.size(), planes, jpeg.width, pitches,
                              jpeg.height, jpeg.flags()) != 0 &&
      !jpeg.accepts_error_of(handle)) {
    return std::nullopt;
  }
  return image;
}

std::optional<Image> DecodeRgb(tjhandle handle, const EncodedJpeg& jpeg,
                               std::pmr::memory_resource* memory) {
  const size_t bytes = PackPlanes(PixelLayout::kRgb, jpeg.width, jpeg.height).bytes;
  Image image{jpeg.width, jpeg.height, ByteBuffer(bytes, memory)};
  if (tjDecompress2(handle, jpeg.bytes.data(), jpeg.size(), image.data.data(), jpeg.width,
                    3 * jpeg.width, jpeg.height, TJPF_RGB, jpeg.flags()) != 0 &&
      !jpeg.accepts_error_of(handle)) {
    return std::nullopt;
  }
  return image;
}

}  // namespace

std::optional<Image> DecodeByTurboJpeg(std::span<const uint8_t> bytes, const JpegHeader& header,
                                       std::pmr::memory_resource* memory, PixelLayout wanted,
                                       OnWarning on_warning) {
  const bool plain = header.precision == 8 && header.process <= 2 &&
                     (header.components == 1 || header.components == 3);
  if (!plain) return std::nullopt;
  const Decompressor handle(tjInitDecompress());
  if (!handle) return std::nullopt;
  EncodedJpeg jpeg{.bytes = bytes, .on_warning = on_warning};
  if (tjDecompressHeader3(handle.get(), bytes.data(), jpeg.size(), &jpeg.width, &jpeg.height,
                          &jpeg.subsampling, &jpeg.colour_space) != 0 &&
      !jpeg.accepts_error_of(handle.get())) {
    return std::nullopt;
  }
  if (jpeg.width != header.width || jpeg.height != header.height) return std::nullopt;
  const bool planes = wanted == PixelLayout::kYuv420 && HoldsPlanes(jpeg, header);
  return planes ? DecodePlanes(handle.get(), jpeg, memory) : DecodeRgb(handle.get(), jpeg, memory);
}

// The library cannot be asked for its version before release 3.
std::string TurboJpegName() { return "libjpeg-turbo"; }

#else

std::optional<Image> DecodeByTurboJpeg(std::span<const uint8_t>, const JpegHeader&,
                                       std::pmr::memory_resource*, PixelLayout, OnWarning) {
  return std::nullopt;
}

std::string TurboJpegName() { return ""; }

#endif

}  // namespace lattice
