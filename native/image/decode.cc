#include "native/image/decode.h"

#include <malloc.h>

#include <new>
#include <optional>
#include <utility>

#include "native/image/image_format.h"
#include "native/image/jpeg_header.h"
#include "native/image/orientation.h"
#include "native/image/tiff_directory.h"
#include "native/image/turbojpeg_decode.h"
#include "native/image/vips_decode.h"

namespace lattice {
namespace {

Status CheckJpegHeader(const JpegHeader& header, const DecodeLimits& limits) {
  if (header.process > 2 && header.process != 9 && header.process != 10) {
    return Status(StatusCode::kUnsupportedImageFormat,
                  "lossless and hierarchical JPEG are not supported");
  }
  if (header.precision != 8) {
    return Status(StatusCode::kUnsupportedImageFormat, "the JPEG has " +
                                                           std::to_string(header.precision) +
                                                           " bits a sample; only 8 are supported");
  }
  if (header.scans > kMaxJpegScans) {
    return Status(StatusCode::kInvalidImage,
                  "the JPEG has more than " + std::to_string(kMaxJpegScans) + " scans");
  }
  return CheckSize(header.width, header.height, limits);
}

Result<Image> DecodeJpeg(std::span<const uint8_t> bytes, const DecodeLimits& limits,
                         std::pmr::memory_resource* memory, PixelLayout wanted) {
  const std::optional<JpegHeader> header = ParseJpegHeader(bytes);
  if (!header) {
    return Status(StatusCode::kInvalidImage, "the JPEG data is damaged or cut short");
  }
  if (Status checked = CheckJpegHeader(*header, limits); !checked.ok()) return checked;
  if (std::optional<Image> image = DecodeByTurboJpeg(bytes, *header, memory, wanted)) {
    return Oriented(*std::move(image), header->exif_orientation);
  }
  Result<StoredImage> stored = DecodeByVips(bytes, ImageFormat::kJpeg, limits, memory);
  if (!stored.ok()) return stored.status();
  // One reader of EXIF for both decoders, so that a build's libraries never change where boxes lie.
  return Oriented(std::move(stored->image), header->exif_orientation);
}

// libvips hands the bands of such files out as if they were red, green and blue: better none than
// wrong ones.
bool IsRawYcbcrTiff(std::span<const uint8_t> bytes) {
  constexpr uint32_t kYcbcr = 6;
  constexpr uint32_t kOldJpeg = 6;
  constexpr uint32_t kJpeg = 7;
  const uint32_t compression = FirstDirectoryValue(bytes, kTiffCompression).value_or(1);
  return FirstDirectoryValue(bytes, kTiffPhotometric) == kYcbcr && compression != kOldJpeg &&
         compression != kJpeg;
}

Result<Image> DecodeSniffed(std::span<const uint8_t> bytes, const DecodeLimits& limits,
                            std::pmr::memory_resource* memory, PixelLayout wanted) {
  if (bytes.empty()) return Status(StatusCode::kInvalidImage, "the file is empty");
  const SniffedFormat sniffed = SniffFormat(bytes);
  if (sniffed.format == ImageFormat::kUnsupported) {
    return Status(StatusCode::kUnsupportedImageFormat,
                  "the file holds " + std::string(sniffed.name) +
                      "; supported are JPEG, PNG, WebP, TIFF and AVIF");
  }
  if (Status started = InitDecoders(); !started.ok()) return started;
  if (sniffed.format == ImageFormat::kJpeg) {
    return DecodeJpeg(bytes, limits, memory, wanted);
  }
  if (sniffed.format == ImageFormat::kTiff && IsRawYcbcrTiff(bytes)) {
    return Status(StatusCode::kUnsupportedImageFormat,
                  "TIFF in YCbCr is supported with JPEG compression only");
  }
  Result<StoredImage> stored = DecodeByVips(bytes, sniffed.format, limits, memory);
  if (!stored.ok()) return stored.status();
  return Oriented(std::move(stored->image), stored->exif_orientation);
}

}  // namespace

Status InitDecoders() {
  // Decoded pictures come and go in megabytes on several threads. glibc would raise its limits to
  // the largest one ever freed and keep that much in every arena; fixed limits give it back.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  mallopt(M_TRIM_THRESHOLD, 4 << 20);
  return StartVips();
}

Status CheckSize(int width, int height, const DecodeLimits& limits) {
  const auto text = [&] { return std::to_string(width) + " x " + std::to_string(height); };
  if (width > limits.max_side || height > limits.max_side) {
    return Status(StatusCode::kImageTooLarge, "the image is " + text() + "; no side may exceed " +
                                                  std::to_string(limits.max_side) + " pixels");
  }
  if (static_cast<size_t>(width) * static_cast<size_t>(height) > limits.max_pixels) {
    return Status(StatusCode::kImageTooLarge, "the image is " + text() + "; the limit is " +
                                                  std::to_string(limits.max_pixels) + " pixels");
  }
  return Status();
}

Result<Image> Decode(std::span<const uint8_t> bytes, const DecodeLimits& limits,
                     std::pmr::memory_resource* memory, PixelLayout wanted) {
  try {
    return DecodeSniffed(bytes, limits, memory, wanted);
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOverloaded, "there is not enough memory to decode the image");
  }
}

std::string LibvipsVersion() { return VipsVersion(); }

std::string JpegDecoderName() {
  const std::string turbo = TurboJpegName();
  return turbo.empty() ? "libvips" : turbo;
}

}  // namespace lattice
