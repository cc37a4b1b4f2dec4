#include "native/image/vips_decode.h"

#include <vips/vips.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "native/image/tiff_kind.h"

namespace lattice {
namespace {

struct Unref {
  void operator()(void* object) const { g_object_unref(object); }
};
using ImageRef = std::unique_ptr<VipsImage, Unref>;
using RegionRef = std::unique_ptr<VipsRegion, Unref>;

// Rows asked for at a time: a whole number of the rows that JPEG and TIFF strips come in.
constexpr int kStripRows = 16;

// Red, green, blue and alpha as floats. A larger pixel counts as several: a TIFF may hold thousands
// of bands, and all of them are decoded, many rows at a time, to keep three.
constexpr int kBytesAPixel = 16;

void DropMessage(const gchar*, GLogLevelFlags, const gchar*, gpointer) {}

constexpr char kNoRows[] = "none of its rows can be read";

Status InvalidImage(std::string_view format_name, const std::string& detail) {
  // libvips keeps one error text for the whole process, other threads' file names in it: it is not
  // shown.
  vips_error_clear();
  return Status(StatusCode::kInvalidImage,
                "the " + std::string(format_name) + " data is damaged or cut short: " + detail);
}

std::string_view NameOf(ImageFormat format) {
  switch (format) {
    case ImageFormat::kJpeg:
      return "JPEG";
    case ImageFormat::kPng:
      return "PNG";
    case ImageFormat::kWebp:
      return "WebP";
    case ImageFormat::kTiff:
      return "TIFF";
    default:
      return "AVIF";
  }
}

// Reads the header only. The pixels follow row by row as they are asked for.
ImageRef OpenLoader(std::span<const uint8_t> bytes, ImageFormat format,
                    OnWarning on_warning = OnWarning::kRefuse) {
  // libvips never writes to the buffer.
  void* data = const_cast<uint8_t*>(bytes.data());
  const size_t size = bytes.size();
  constexpr auto kAccess = VIPS_ACCESS_SEQUENTIAL;
  constexpr auto kFailOn = VIPS_FAIL_ON_ERROR;
  VipsImage* image = nullptr;
  switch (format) {
    case ImageFormat::kJpeg:
      vips_jpegload_buffer(
          data, size, &image, "access", kAccess, "fail_on",
          on_warning == OnWarning::kRefuse ? VIPS_FAIL_ON_WARNING : VIPS_FAIL_ON_NONE, nullptr);
      break;
    case ImageFormat::kPng:
      vips_pngload_buffer(data, size, &image, "access", kAccess, "fail_on", kFailOn, nullptr);
      break;
    case ImageFormat::kWebp:
      vips_webpload_buffer(data, size, &image, "access", kAccess, "fail_on", kFailOn, "n", 1,
                           nullptr);
      break;
    case ImageFormat::kTiff:
      vips_tiffload_buffer(data, size, &image, "access", kAccess, "fail_on", kFailOn, "n", 1,
                           nullptr);
      break;
    default:
      // "n" is left out: it would ask for the first picture instead of the file's primary one.
      vips_heifload_buffer(data, size, &image, "access", kAccess, "fail_on", kFailOn, nullptr);
      break;
  }
  return ImageRef(image);
}

// Unsigned samples of more than 8 bits, whose upper ones count.
bool HasUpperByte(VipsBandFormat format) {
  return format == VIPS_FORMAT_USHORT || format == VIPS_FORMAT_UINT;
}

// Colour spaces whose bands are already red, green, blue or grey, if perhaps with more bits.
bool IsRgbOrGrey(VipsInterpretation interpretation) {
  switch (interpretation) {
    case VIPS_INTERPRETATION_CMYK:
    case VIPS_INTERPRETATION_LAB:
    case VIPS_INTERPRETATION_LABQ:
    case VIPS_INTERPRETATION_LABS:
    case VIPS_INTERPRETATION_LCH:
    case VIPS_INTERPRETATION_CMC:
    case VIPS_INTERPRETATION_XYZ:
    case VIPS_INTERPRETATION_YXY:
    case VIPS_INTERPRETATION_scRGB:
    case VIPS_INTERPRETATION_HSV:
      return false;
    default:
      return true;
  }
}

// Returns a picture of one or three bands; null when libvips refuses.
ImageRef ToGreyOrRgb(ImageRef image) {
  VipsImage* next = nullptr;
  if (!IsRgbOrGrey(vips_image_get_interpretation(image.get()))) {
    if (vips_colourspace(image.get(), &next, VIPS_INTERPRETATION_sRGB, nullptr) != 0) return {};
    image.reset(next);
  }
  const int bands = vips_image_get_bands(image.get());
  const int kept = bands >= 3 ? 3 : 1;
  if (bands == kept) return image;
  if (vips_extract_band(image.get(), &next, 0, "n", kept, nullptr) != 0) return {};
  return ImageRef(next);
}

// `shift` keeps the upper byte of 16 bits, as libpng and OpenCV do. Null when libvips refuses.
ImageRef Cast(const ImageRef& image, bool shift) {
  VipsImage* next = nullptr;
  vips_cast(image.get(), &next, VIPS_FORMAT_UCHAR, "shift", static_cast<gboolean>(shift), nullptr);
  return ImageRef(next);
}

ImageRef Scaled(const ImageRef& image, const SampleRange& range) {
  constexpr double kRounding = 0.5;  // the cast cuts
  const double factor = 255 / (range.high - range.low);
  VipsImage* next = nullptr;
  if (vips_linear1(image.get(), &next, factor, kRounding - range.low * factor, nullptr) != 0) {
    return {};
  }
  return Cast(ImageRef(next), false);
}

// The highest sample of the whole file, which is decoded for that alone; nullopt when it is
// damaged.
std::optional<double> HighestSample(std::span<const uint8_t> bytes, ImageFormat format) {
  ImageRef loaded = OpenLoader(bytes, format);
  const ImageRef bands = loaded ? ToGreyOrRgb(std::move(loaded)) : nullptr;
  double highest = 0;
  if (!bands || vips_max(bands.get(), &highest, nullptr) != 0) return std::nullopt;
  return highest;
}

Status UnknownRange(ImageFormat format, const std::string& what) {
  const std::string tags =
      format == ImageFormat::kTiff ? ", or the tags SMinSampleValue and SMaxSampleValue" : "";
  return {StatusCode::kUnsupportedImageFormat, "the samples of the " + std::string(NameOf(format)) +
                                                   " " + what +
                                                   ": write samples of the full range" + tags};
}

// 8 bits a sample.
Result<ImageRef> ToBytes(ImageRef image, std::span<const uint8_t> bytes, ImageFormat format) {
  const auto cast = [&](ImageRef made) -> Result<ImageRef> {
    if (!made) return InvalidImage(NameOf(format), kNoRows);
    return made;
  };
  const VipsBandFormat samples = vips_image_get_format(image.get());
  if (samples == VIPS_FORMAT_UCHAR) return image;
  if (format == ImageFormat::kTiff) {
    if (const auto range = TiffSampleRange(bytes)) return cast(Scaled(image, *range));
  }
  if (HasUpperByte(samples)) return cast(Cast(image, true));
  const std::optional<double> highest = HighestSample(bytes, format);
  if (!highest) return InvalidImage(NameOf(format), kNoRows);
  const bool is_float = samples == VIPS_FORMAT_FLOAT || samples == VIPS_FORMAT_DOUBLE;
  if (is_float && *highest <= 1) return cast(Scaled(image, {0, 1}));
  if (*highest <= 255) return cast(Cast(image, false));
  return UnknownRange(format, "go up to " + std::to_string(*highest) +
                                  ", and the file does not say which is white");
}

// A file whose samples use a few of their bits, and does not say so, would be read as black.
Status CheckBrightness(const Image& image, std::span<const uint8_t> bytes, ImageFormat format) {
  constexpr uint8_t kDark = 16;
  const bool dark = std::all_of(image.data.begin(), image.data.end(),
                                [](uint8_t sample) { return sample < kDark; });
  if (!dark || HighestSample(bytes, format).value_or(0) == 0) return {};
  return UnknownRange(format,
                      "use less than 1/16 of the range that they have, so that the picture "
                      "would be black");
}

// Row `y` of what was prepared last. Written out because VIPS_REGION_ADDR mixes signs.
const VipsPel* RowOf(const VipsRegion* region, int y) {
  return region->data + ptrdiff_t{y - region->valid.top} * region->bpl;
}

void CopyRow(const VipsPel* from, int width, int bands, uint8_t* to) {
  const auto count = static_cast<size_t>(width);
  if (bands == 3) {
    std::memcpy(to, from, 3 * count);
    return;
  }
  for (size_t x = 0; x < count; ++x) std::memset(to + 3 * x, from[x], 3);
}

// Copies on this very thread: libvips' own threads cost more than they bring when many images are
// in work. Returns how many rows it got.
int CopyPixels(VipsImage* source, Image* out) {
  const int bands = vips_image_get_bands(source);
  const size_t row_bytes = size_t{3} * static_cast<size_t>(out->width);
  out->data.resize(row_bytes * static_cast<size_t>(out->height));
  const RegionRef region(vips_region_new(source));
  if (!region) return 0;
  for (int top = 0; top < out->height; top += kStripRows) {
    const VipsRect strip = {0, top, out->width, std::min(kStripRows, out->height - top)};
    if (vips_region_prepare(region.get(), &strip) != 0) return top;
    for (int y = top; y < top + strip.height; ++y) {
      CopyRow(RowOf(region.get(), y), out->width, bands,
              out->data.data() + row_bytes * static_cast<size_t>(y));
    }
  }
  return out->height;
}

// First the picture as it is shown, then what the file stores of it.
Status CheckBothSizes(const VipsImage* image, const DecodeLimits& limits) {
  const int width = vips_image_get_width(image);
  const int height = vips_image_get_height(image);
  const auto sample = static_cast<int>(vips_format_sizeof(vips_image_get_format(image)));
  const int bytes = sample * vips_image_get_bands(image);
  const int times = (bytes + kBytesAPixel - 1) / kBytesAPixel;
  Status size = CheckSize(width, height, limits);
  if (!size.ok() || times == 1) return size;
  const int64_t counted = int64_t{times} * width;
  constexpr int64_t kMost = std::numeric_limits<int>::max();
  size = CheckSize(static_cast<int>(std::min(counted, kMost)), height, limits);
  if (size.ok()) return size;
  return Status(size.code(), "a pixel has " + std::to_string(bytes) + " bytes and counts as " +
                                 std::to_string(times) + ", so " + size.message());
}

Status StartVipsOnce() {
  if (vips_init("lattice") != 0) {
    vips_error_clear();
    return Status(StatusCode::kInternalError, "libvips cannot be started");
  }
  // Warnings about odd files would fill the log: what matters comes back as a status.
  g_log_set_handler("VIPS", static_cast<GLogLevelFlags>(G_LOG_LEVEL_WARNING | G_LOG_LEVEL_MESSAGE),
                    DropMessage, nullptr);
  vips_block_untrusted_set(TRUE);
  vips_operation_block_set("VipsForeignLoad", TRUE);
  for (const char* loader : {"VipsForeignLoadJpeg", "VipsForeignLoadPng", "VipsForeignLoadWebp",
                             "VipsForeignLoadTiff", "VipsForeignLoadHeif"}) {
    vips_operation_block_set(loader, FALSE);
  }
  vips_cache_set_max(0);
  vips_concurrency_set(1);
  return Status();
}

}  // namespace

Status StartVips() {
  static const Status started = StartVipsOnce();
  return started;
}

std::optional<ImageSize> ReadSizeByVips(std::span<const uint8_t> bytes, ImageFormat format) {
  const ImageRef loaded = OpenLoader(bytes, format);
  if (loaded) {
    return ImageSize{vips_image_get_width(loaded.get()), vips_image_get_height(loaded.get())};
  }
  vips_error_clear();
  return std::nullopt;
}

Result<StoredImage> DecodeByVips(std::span<const uint8_t> bytes, ImageFormat format,
                                 const DecodeLimits& limits, std::pmr::memory_resource* memory,
                                 OnWarning on_warning) {
  ImageRef loaded = OpenLoader(bytes, format, on_warning);
  if (!loaded) return InvalidImage(NameOf(format), kNoRows);
  StoredImage stored{
      {vips_image_get_width(loaded.get()), vips_image_get_height(loaded.get()), ByteBuffer(memory)},
      1};
  if (Status size = CheckBothSizes(loaded.get(), limits); !size.ok()) return size;
  stored.exif_orientation = vips_image_get_orientation(loaded.get());
  ImageRef bands = ToGreyOrRgb(std::move(loaded));
  if (!bands) return InvalidImage(NameOf(format), kNoRows);
  const bool upper_bytes = HasUpperByte(vips_image_get_format(bands.get()));
  const Result<ImageRef> converted = ToBytes(std::move(bands), bytes, format);
  if (!converted.ok()) return converted.status();
  const int height = stored.image.height;
  const int rows = CopyPixels(converted->get(), &stored.image);
  if (rows < height) {
    return InvalidImage(NameOf(format), FirstRowsReadable(rows, height));
  }
  if (upper_bytes) {
    if (Status bright = CheckBrightness(stored.image, bytes, format); !bright.ok()) return bright;
  }
  return stored;
}

std::string VipsVersion() { return vips_version_string(); }

}  // namespace lattice
