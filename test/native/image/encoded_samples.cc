#include "test/native/image/encoded_samples.h"

#include <algorithm>

namespace lattice::samples {
namespace {

void Put(Bytes* out, uint64_t value, int bytes, bool little) {
  for (int i = 0; i < bytes; ++i) {
    const int shift = 8 * (little ? i : bytes - 1 - i);
    out->push_back(static_cast<uint8_t>(value >> shift));
  }
}

void Append(Bytes* out, std::span<const uint8_t> bytes) {
  out->insert(out->end(), bytes.begin(), bytes.end());
}

uint32_t Crc32(std::span<const uint8_t> bytes) {
  uint32_t crc = 0xFFFFFFFFu;
  for (const uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

void PutChunk(Bytes* png, std::string_view type, std::span<const uint8_t> data) {
  Put(png, data.size(), 4, false);
  Bytes body(type.begin(), type.end());
  Append(&body, data);
  Append(png, body);
  Put(png, Crc32(body), 4, false);
}

// A zlib stream of stored blocks.
Bytes Stored(std::span<const uint8_t> data) {
  Bytes out = {0x78, 0x01};
  uint32_t a = 1;
  uint32_t b = 0;
  for (const uint8_t byte : data) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  do {
    const size_t size = std::min<size_t>(data.size(), 65535);
    out.push_back(size == data.size() ? 1 : 0);
    Put(&out, size, 2, true);
    Put(&out, ~size, 2, true);
    Append(&out, data.first(size));
    data = data.subspan(size);
  } while (!data.empty());
  Put(&out, (uint64_t{b} << 16) | a, 4, false);
  return out;
}

}  // namespace

Bytes WithOrientation(std::span<const uint8_t> jpeg, uint16_t orientation, bool little_endian) {
  Bytes exif = little_endian ? Bytes{'I', 'I'} : Bytes{'M', 'M'};
  Put(&exif, 42, 2, little_endian);
  Put(&exif, 8, 4, little_endian);
  Put(&exif, 1, 2, little_endian);
  Put(&exif, 274, 2, little_endian);
  Put(&exif, 3, 2, little_endian);
  Put(&exif, 1, 4, little_endian);
  Put(&exif, orientation, 2, little_endian);
  Put(&exif, 0, 6, little_endian);
  return WithExif(jpeg, exif);
}

Bytes WithExif(std::span<const uint8_t> jpeg, std::span<const uint8_t> block) {
  Bytes exif = {'E', 'x', 'i', 'f', 0, 0};
  Append(&exif, block);
  Bytes out = CopyOf(jpeg.first(2));
  out.push_back(0xFF);
  out.push_back(0xE1);
  Put(&out, exif.size() + 2, 2, false);
  Append(&out, exif);
  Append(&out, jpeg.subspan(2));
  return out;
}

Bytes MakeTiff(const TiffLayout& layout, std::span<const uint8_t> pixels) {
  const bool mapped = !layout.colour_map.empty();
  const uint64_t entries = (mapped ? 12 : 11) + layout.more.size();
  const uint64_t bits_at = 8 + 2 + entries * 12 + 4;
  const uint64_t map_at = bits_at + 2u * layout.samples;
  const uint64_t strip_at = map_at + 2 * layout.colour_map.size();
  Bytes out = {'I', 'I', 42, 0, 8, 0, 0, 0};
  Put(&out, entries, 2, true);
  const auto entry = [&](uint64_t tag, uint64_t type, uint64_t count, uint64_t value) {
    Put(&out, tag, 2, true);
    Put(&out, type, 2, true);
    Put(&out, count, 4, true);
    Put(&out, value, 4, true);
  };
  entry(256, 4, 1, layout.width);
  entry(257, 4, 1, layout.height);
  const bool inline_bits = layout.samples == 1;
  entry(258, 3, layout.samples, inline_bits ? layout.bits : bits_at);
  entry(259, 3, 1, layout.compression);
  entry(262, 3, 1, layout.photometric);
  entry(273, 4, 1, strip_at);
  entry(274, 3, 1, layout.orientation);
  entry(277, 3, 1, layout.samples);
  entry(278, 4, 1, layout.height);
  entry(279, 4, 1, pixels.size());
  // In the order of their tags.
  std::vector<TiffLayout::Entry> more = layout.more;
  more.push_back({339, 3, layout.sample_format});
  std::sort(more.begin(), more.end(),
            [](const auto& one, const auto& other) { return one.tag < other.tag; });
  for (const TiffLayout::Entry& each : more) {
    if (each.tag < 320) entry(each.tag, each.type, 1, each.value);
  }
  if (mapped) entry(320, 3, layout.colour_map.size(), map_at);
  for (const TiffLayout::Entry& each : more) {
    if (each.tag > 320) entry(each.tag, each.type, 1, each.value);
  }
  Put(&out, 0, 4, true);
  for (int i = 0; i < layout.samples; ++i) Put(&out, layout.bits, 2, true);
  for (const uint16_t value : layout.colour_map) Put(&out, value, 2, true);
  Append(&out, pixels);
  return out;
}

Bytes MakeBmp(const BmpLayout& layout, std::span<const uint8_t> rows) {
  constexpr size_t kHeaders = 14 + 40;
  const size_t data = kHeaders + layout.palette.size();
  Bytes out = {'B', 'M'};
  Put(&out, data + rows.size(), 4, true);
  Put(&out, 0, 4, true);
  Put(&out, data, 4, true);
  Put(&out, 40, 4, true);
  Put(&out, static_cast<uint32_t>(layout.width), 4, true);
  Put(&out, static_cast<uint32_t>(layout.height), 4, true);
  Put(&out, 1, 2, true);
  Put(&out, layout.bits, 2, true);
  Put(&out, layout.compression, 4, true);
  for (const uint64_t value :
       {rows.size(), size_t{2835}, size_t{2835}, layout.palette.size() / 4, size_t{0}}) {
    Put(&out, value, 4, true);
  }
  Append(&out, layout.palette);
  Append(&out, rows);
  return out;
}

Bytes MakePng(const PngLayout& layout, std::span<const uint8_t> rows) {
  Bytes png = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  Bytes header;
  Put(&header, layout.width, 4, false);
  Put(&header, layout.height, 4, false);
  Append(&header, Bytes{layout.bits, layout.colour_type, 0, 0, 0});
  PutChunk(&png, "IHDR", header);
  if (!layout.palette.empty()) PutChunk(&png, "PLTE", layout.palette);
  Bytes filtered;
  const size_t row_bytes = layout.height == 0 ? 0 : rows.size() / layout.height;
  for (size_t y = 0; y < layout.height && row_bytes > 0; ++y) {
    filtered.push_back(0);
    Append(&filtered, rows.subspan(y * row_bytes, row_bytes));
  }
  PutChunk(&png, "IDAT", Stored(filtered));
  PutChunk(&png, "IEND", {});
  return png;
}

std::vector<Bytes> OfEveryFormat() {
  const Bytes rows(24 * 16 * 3, 7);
  return {CopyOf(kJpeg),
          CopyOf(kProgressiveJpeg),
          CopyOf(kCmykJpeg),
          CopyOf(kGreyJpeg),
          CopyOf(kWebp),
          CopyOf(kAvif),
          MakeTiff({.width = 24, .height = 16, .colour_map = {}, .more = {}}, rows),
          MakePng({.width = 24, .height = 16, .palette = {}}, rows),
          MakeBmp({.width = 24, .height = 16, .palette = {}}, rows)};
}

}  // namespace lattice::samples
