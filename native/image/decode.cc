#include "native/image/decode.h"

#include <malloc.h>

#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "native/image/bmp_decode.h"
#include "native/image/image_format.h"
#include "native/image/jpeg_extent.h"
#include "native/image/jpeg_header.h"
#include "native/image/jpeg_markers.h"
#include "native/image/orientation.h"
#include "native/image/tiff_kind.h"
#include "native/image/turbojpeg_decode.h"
#include "native/image/vips_decode.h"

namespace lattice {
namespace {

Status CheckJpegHeader(const JpegHeader& header, const DecodeLimits& limits) {
  if (header.process > 2 && header.process != 9 && header.process != 10) {
    return Status(StatusCode::kUnsupportedImageFormat,
                  "lossless and hierarchical JPEG are not supported");
  }
  if (header.height == 0) {
    return Status(StatusCode::kUnsupportedImageFormat,
                  "the JPEG gives its height behind its data (DNL), which is not supported");
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

using Bytes = std::span<const uint8_t>;

bool EndsWithMarker(Bytes bytes) {
  return bytes.size() >= 2 && bytes[bytes.size() - 2] == 0xFF && bytes.back() == jpeg::kEndOfImage;
}

std::vector<uint8_t> WithEnd(Bytes bytes) {
  std::vector<uint8_t> ended(bytes.begin(), bytes.end());
  ended.push_back(0xFF);
  ended.push_back(jpeg::kEndOfImage);
  return ended;
}

// A file that libjpeg-turbo takes without a warning is whole. Of anything else FindJpegEnd decides,
// so that a build's libraries never change which files are refused.
Result<Image> DecodeJpegData(Bytes bytes, const JpegHeader& header, const DecodeLimits& limits,
                             std::pmr::memory_resource* memory, PixelLayout wanted) {
  std::vector<uint8_t> whole;
  // Some cameras leave it out, and a second try would double the time of each of their files.
  const bool is_open = header.single_scan && !EndsWithMarker(bytes);
  if (is_open) whole = WithEnd(bytes);
  const Bytes ended = is_open ? whole : bytes;
  if (auto image = DecodeByTurboJpeg(ended, header, memory, wanted)) return *std::move(image);
  OnWarning on_warning = OnWarning::kRefuse;
  if (header.arithmetic()) {
    bytes = ended;
  } else {
    const Result<size_t> end = FindJpegEnd(bytes);
    if (!end.ok()) return end.status();
    whole = WithEnd(bytes.first(*end));
    bytes = whole;
    on_warning = OnWarning::kAccept;
  }
  Result<StoredImage> stored = DecodeByVips(bytes, ImageFormat::kJpeg, limits, memory, on_warning);
  if (!stored.ok()) return stored.status();
  return std::move(stored->image);
}

Result<Image> DecodeJpeg(std::span<const uint8_t> bytes, const DecodeLimits& limits,
                         std::pmr::memory_resource* memory, PixelLayout wanted) {
  const std::optional<JpegHeader> header = ParseJpegHeader(bytes);
  if (!header) {
    return Status(StatusCode::kInvalidImage,
                  "the JPEG data is damaged or cut short before the size of its picture");
  }
  if (Status checked = CheckJpegHeader(*header, limits); !checked.ok()) return checked;
  Result<Image> image = DecodeJpegData(bytes, *header, limits, memory, wanted);
  if (!image.ok()) return image;
  // Both decoders use one reader of EXIF, so that a build's libraries never change where boxes lie.
  return Oriented(*std::move(image), header->exif_orientation);
}

Result<Image> DecodeSniffed(std::span<const uint8_t> bytes, const DecodeLimits& limits,
                            std::pmr::memory_resource* memory, PixelLayout wanted) {
  if (bytes.empty()) return Status(StatusCode::kInvalidImage, "the file is empty");
  const SniffedFormat sniffed = SniffFormat(bytes);
  if (sniffed.format == ImageFormat::kUnsupported) {
    return Status(StatusCode::kUnsupportedImageFormat,
                  "the file holds " + std::string(sniffed.name) +
                      "; supported are JPEG, PNG, WebP, TIFF, AVIF and BMP" +
                      (sniffed.name == "HEIC" ? ": convert it, as with "
                                                "`heif-convert photo.heic photo.jpg`"
                                              : ""));
  }
  if (sniffed.format == ImageFormat::kBmp) return DecodeBmp(bytes, limits, memory);
  if (Status started = InitDecoders(); !started.ok()) return started;
  if (sniffed.format == ImageFormat::kJpeg) {
    return DecodeJpeg(bytes, limits, memory, wanted);
  }
  if (sniffed.format == ImageFormat::kTiff) {
    if (Status kind = CheckTiffKind(bytes); !kind.ok()) return kind;
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

std::string FirstRowsReadable(int rows, int height) {
  return "its first " + std::to_string(rows) + " of " + std::to_string(height) +
         " rows can be read";
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
