#include "native/image/bmp_decode.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace lattice {
namespace {

using Pixels = std::span<const uint8_t>;

constexpr size_t kFileHeader = 14;
constexpr size_t kInfoHeader = 40;  // later versions only add to it
constexpr size_t kMasksEnd = kFileHeader + kInfoHeader + 12;
constexpr uint32_t kUncompressed = 0;
constexpr uint32_t kMasks = 3;

uint32_t LittleEndian(Pixels bytes, size_t at, size_t count) {
  uint32_t value = 0;
  for (size_t i = 0; i < count; ++i) value |= static_cast<uint32_t>(bytes[at + i]) << 8 * i;
  return value;
}

struct BmpHeader {
  int width = 0;
  int height = 0;
  bool from_top = false;
  size_t bits = 0;  // of a pixel
  size_t data = 0;  // where the rows start
  Pixels palette;   // blue, green, red, 0 for each colour

  size_t row_bytes() const { return (bits * static_cast<size_t>(width) + 7) / 8; }
  size_t padded_row_bytes() const { return (row_bytes() + 3) / 4 * 4; }
};

Status DamagedBmp(const std::string& detail) {
  return {StatusCode::kInvalidImage, "the BMP data is damaged or cut short" + detail};
}

Status UnsupportedBmp(const std::string& what) {
  return {StatusCode::kUnsupportedImageFormat,
          "the BMP " + what + "; supported are uncompressed ones of 1, 4, 8, 24 and 32 bits"};
}

// Blue, green, red and a fourth byte, as files without masks have it.
bool HasUsualMasks(Pixels bytes) {
  constexpr size_t kMasksAt = kFileHeader + kInfoHeader;
  return bytes.size() >= kMasksEnd && LittleEndian(bytes, kMasksAt, 4) == 0xFF0000 &&
         LittleEndian(bytes, kMasksAt + 4, 4) == 0xFF00 &&
         LittleEndian(bytes, kMasksAt + 8, 4) == 0xFF;
}

Status CheckKind(Pixels bytes, const BmpHeader& header) {
  const uint32_t compression = LittleEndian(bytes, 30, 4);
  if (compression != kUncompressed && compression != kMasks) {
    return UnsupportedBmp("is compressed (kind " + std::to_string(compression) + ")");
  }
  const bool known = header.bits == 1 || header.bits == 4 || header.bits == 8 ||
                     header.bits == 24 || header.bits == 32;
  if (!known) return UnsupportedBmp("has " + std::to_string(header.bits) + " bits a pixel");
  if (compression == kMasks && (header.bits != 32 || !HasUsualMasks(bytes))) {
    return UnsupportedBmp("has bit masks of its own");
  }
  return {};
}

Result<BmpHeader> ReadHeader(Pixels bytes) {
  if (bytes.size() < kFileHeader + 4) return DamagedBmp("");
  const size_t info_bytes = LittleEndian(bytes, kFileHeader, 4);
  if (info_bytes < kInfoHeader) {
    return UnsupportedBmp("has the header of another system (" + std::to_string(info_bytes) +
                          " bytes)");
  }
  if (info_bytes > bytes.size() - kFileHeader) return DamagedBmp("");
  BmpHeader header;
  header.data = LittleEndian(bytes, 10, 4);
  header.bits = LittleEndian(bytes, 28, 2);
  const auto width = static_cast<int32_t>(LittleEndian(bytes, 18, 4));
  const auto height = int64_t{static_cast<int32_t>(LittleEndian(bytes, 22, 4))};
  if (width <= 0 || height == 0 || height == std::numeric_limits<int32_t>::min()) {
    return DamagedBmp(": its header says " + std::to_string(width) + " x " +
                      std::to_string(height) + " pixels");
  }
  header.width = width;
  header.height = static_cast<int>(height < 0 ? -height : height);
  header.from_top = height < 0;
  if (Status kind = CheckKind(bytes, header); !kind.ok()) return kind;
  if (header.bits > 8) return header;
  const size_t palette = kFileHeader + info_bytes;
  const size_t colours = std::min<size_t>(LittleEndian(bytes, 46, 4), size_t{1} << header.bits);
  const size_t wanted = 4 * (colours == 0 ? size_t{1} << header.bits : colours);
  header.palette = bytes.subspan(palette, std::min(wanted, bytes.size() - palette));
  return header;
}

// False for a colour that the palette has not.
bool CopyRow(const BmpHeader& header, Pixels row, uint8_t* to) {
  const auto width = static_cast<size_t>(header.width);
  const size_t step = header.bits / 8;
  for (size_t x = 0; x < width; ++x, to += 3) {
    const uint8_t* bgr = nullptr;
    if (header.bits > 8) {
      bgr = &row[x * step];
    } else {
      const size_t bit = x * header.bits;
      const size_t byte = row[bit / 8];
      const size_t index = byte >> (8 - header.bits - bit % 8) & ((size_t{1} << header.bits) - 1);
      if (4 * index + 3 > header.palette.size()) return false;
      bgr = &header.palette[4 * index];
    }
    std::reverse_copy(bgr, bgr + 3, to);
  }
  return true;
}

}  // namespace

Result<Image> DecodeBmp(Pixels bytes, const DecodeLimits& limits,
                        std::pmr::memory_resource* memory) {
  const Result<BmpHeader> read = ReadHeader(bytes);
  if (!read.ok()) return read.status();
  const BmpHeader& header = *read;
  if (Status size = CheckSize(header.width, header.height, limits); !size.ok()) return size;
  const Pixels data = bytes.subspan(std::min(header.data, bytes.size()));
  const auto height = static_cast<size_t>(header.height);
  // The last row may come without padding.
  const size_t rows =
      (data.size() + header.padded_row_bytes() - header.row_bytes()) / header.padded_row_bytes();
  if (rows < height) {
    return DamagedBmp(header.from_top
                          ? ": " + FirstRowsReadable(static_cast<int>(rows), header.height)
                          : ": its last " + std::to_string(rows) + " of " + std::to_string(height) +
                                " rows can be read");
  }
  Image image{header.width, header.height,
              ByteBuffer(PackPlanes(PixelLayout::kRgb, header.width, header.height).bytes, memory)};
  for (size_t y = 0; y < height; ++y) {
    const size_t stored = header.from_top ? y : height - 1 - y;
    const Pixels row = data.subspan(stored * header.padded_row_bytes(), header.row_bytes());
    if (!CopyRow(header, row, &image.data[y * 3 * static_cast<size_t>(header.width)])) {
      return DamagedBmp(": it names colours that its palette has not");
    }
  }
  return image;
}

std::optional<ImageSize> ReadBmpSize(Pixels bytes) {
  const Result<BmpHeader> header = ReadHeader(bytes);
  if (!header.ok()) return std::nullopt;
  return ImageSize{header->width, header->height};
}

}  // namespace lattice
