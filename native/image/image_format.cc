#include "native/image/image_format.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace lattice {
namespace {

using std::string_view_literals::operator""sv;

struct Magic {
  size_t offset;
  std::string_view bytes;
  ImageFormat format;
  std::string_view name;
};

constexpr auto kNo = ImageFormat::kUnsupported;

// First match wins.
constexpr Magic kMagics[] = {
    {0, "\xFF\xD8\xFF"sv, ImageFormat::kJpeg, "JPEG"},
    {0, "\x89PNG\r\n\x1A\n"sv, ImageFormat::kPng, "PNG"},
    {8, "WEBP"sv, ImageFormat::kWebp, "WebP"},
    {0, "II*\0"sv, ImageFormat::kTiff, "TIFF"},
    {0, "MM\0*"sv, ImageFormat::kTiff, "TIFF"},
    {0, "II+\0"sv, ImageFormat::kTiff, "TIFF"},
    {0, "MM\0+"sv, ImageFormat::kTiff, "TIFF"},
    {0, "BM"sv, ImageFormat::kBmp, "BMP"},
    {0, "GIF8"sv, kNo, "GIF"},
    {0, "%PDF"sv, kNo, "PDF"},
    {0, "%!PS"sv, kNo, "PostScript"},
    {4, "jP  \r\n\x87\n"sv, kNo, "JPEG 2000"},
    {0, "\xFF\x4F\xFF\x51"sv, kNo, "JPEG 2000"},
    {4, "JXL \r\n\x87\n"sv, kNo, "JPEG XL"},
    {0, "\xFF\x0A"sv, kNo, "JPEG XL"},
    {0, "8BPS"sv, kNo, "Photoshop"},
    {0, "v/1\x01"sv, kNo, "OpenEXR"},
    {0, "#?RADIANCE"sv, kNo, "Radiance HDR"},
    {0, "#?RGBE"sv, kNo, "Radiance HDR"},
    {0, "qoif"sv, kNo, "QOI"},
    {0, "DDS "sv, kNo, "DDS"},
    {0, "\0\0\1\0"sv, kNo, "ICO"},
    {0, "\0\0\2\0"sv, kNo, "CUR or TGA"},
    {0, "SIMPLE  ="sv, kNo, "FITS"},
    {0, "PK\x03\x04"sv, kNo, "ZIP"},
    {0, "\x1F\x8B"sv, kNo, "gzip"},
    {0,
     "\x7F"
     "ELF"sv,
     kNo, "ELF program"},
    {0, "\x1A\x45\xDF\xA3"sv, kNo, "Matroska video"},
};

std::string_view AsText(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// ISO base media files name their contents by brands: AVIF, HEIC and video share the container.
SniffedFormat SniffIsoMedia(std::string_view head) {
  const size_t box_size = static_cast<size_t>(static_cast<uint8_t>(head[2])) << 8 |
                          static_cast<size_t>(static_cast<uint8_t>(head[3]));
  const std::string_view box = head.substr(0, std::min(head.size(), box_size));
  const auto has_brand = [&](std::string_view brand) {
    for (size_t at = 8; at + 4 <= box.size(); at += at == 8 ? 8 : 4) {  // 12 is the minor version
      if (box.substr(at, 4) == brand) return true;
    }
    return false;
  };
  if (has_brand("avif") || has_brand("avis")) return {ImageFormat::kAvif, "AVIF"};
  for (const std::string_view brand : {"heic"sv, "heix"sv, "hevc"sv, "heim"sv, "mif1"sv}) {
    if (has_brand(brand)) return {kNo, "HEIC"};
  }
  return {kNo, "MP4 video"};
}

// Text may start with the same two letters, but has no zeros: the upper bytes of a header's size.
bool HasBmpHeader(std::string_view head) {
  return head.size() >= 18 && head[16] == 0 && head[17] == 0;
}

bool StartsWithIgnoringCase(std::string_view text, std::string_view prefix) {
  if (text.size() < prefix.size()) return false;
  return std::equal(prefix.begin(), prefix.end(), text.begin(), [](char a, char b) {
    return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b);
  });
}

SniffedFormat SniffText(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const bool binary = std::any_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<uint8_t>(c);
    return byte < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f';
  });
  if (binary || head.empty()) return {kNo, "unknown data"};
  const size_t start = std::min(head.find_first_not_of(" \t\r\n\f"), head.size());
  const std::string_view text = head.substr(start);
  if (text.find("<svg") != std::string_view::npos) return {kNo, "SVG"};
  if (StartsWithIgnoringCase(text, "<!doctype html") || StartsWithIgnoringCase(text, "<html")) {
    return {kNo, "HTML"};
  }
  return {kNo, "text"};
}

}  // namespace

SniffedFormat SniffFormat(std::span<const uint8_t> bytes) {
  const std::string_view head = AsText(bytes.first(std::min<size_t>(bytes.size(), 1024)));
  if (head.size() >= 12 && head.substr(4, 4) == "ftyp") return SniffIsoMedia(head);
  if (head == "\xFF\xD8"sv) return {ImageFormat::kJpeg, "JPEG"};
  for (const Magic& magic : kMagics) {
    if (head.size() < magic.offset) continue;
    if (head.substr(magic.offset).starts_with(magic.bytes)) {
      if (magic.format == ImageFormat::kWebp && !head.starts_with("RIFF")) continue;
      if (magic.format == ImageFormat::kBmp && !HasBmpHeader(head)) continue;
      return {magic.format, magic.name};
    }
  }
  if (head.size() >= 3 && head[0] == 'P' && head[1] >= '1' && head[1] <= '7' &&
      (head[2] == '\n' || head[2] == ' ' || head[2] == '\r')) {
    return {kNo, "PNM"};
  }
  return SniffText(head);
}

}  // namespace lattice
