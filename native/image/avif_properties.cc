#include "native/image/avif_properties.h"

#include <cstddef>

namespace lattice {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr uint32_t Type(const char (&name)[5]) {
  uint32_t type = 0;
  for (int i = 0; i < 4; ++i) type = type << 8 | static_cast<uint8_t>(name[i]);
  return type;
}

struct Box {
  uint32_t type = 0;
  Bytes content;
};

// Precondition: `count` bytes from `at` on exist.
uint64_t BigEndian(Bytes bytes, size_t at, size_t count) {
  uint64_t value = 0;
  for (size_t i = 0; i < count; ++i) value = value << 8 | bytes[at + i];
  return value;
}

// Takes the first box off `bytes`. Nothing at the end and where a box says more than there is.
std::optional<Box> NextBox(Bytes* bytes) {
  size_t header = 8;
  if (bytes->size() < header) return std::nullopt;
  const auto type = static_cast<uint32_t>(BigEndian(*bytes, 4, 4));
  uint64_t size = BigEndian(*bytes, 0, 4);
  if (size == 0) size = bytes->size();  // to the end of the file
  if (size == 1) {
    header = 16;
    if (bytes->size() < header) return std::nullopt;
    size = BigEndian(*bytes, 8, 8);
  }
  if (size < header || size > bytes->size()) return std::nullopt;
  const Box box{type, bytes->subspan(header, static_cast<size_t>(size) - header)};
  *bytes = bytes->subspan(static_cast<size_t>(size));
  return box;
}

// The content of the first such box; empty when there is none.
Bytes ContentOf(Bytes boxes, uint32_t type) {
  while (const std::optional<Box> box = NextBox(&boxes)) {
    if (box->type == type) return box->content;
  }
  return {};
}

// One `av1C` box. Grey pictures, such as alpha planes, have no chroma that could be halved or not.
void AddDecoderConfiguration(Bytes av1c, AvifProperties* found, int* coloured) {
  if (av1c.size() < 3) return;
  const bool high_bit_depth = (av1c[2] & 0x40) != 0;
  const bool monochrome = (av1c[2] & 0x10) != 0;
  const bool halved_both_ways = (av1c[2] & 0x0C) == 0x0C;
  if (monochrome) return;
  found->halved_chroma = halved_both_ways && (*coloured == 0 || found->halved_chroma);
  found->eight_bit = found->eight_bit && !high_bit_depth;
  ++*coloured;
}

// One `colr` box. ICC profiles name no matrix.
void AddColour(Bytes colr, AvifProperties* found, int* named) {
  if (colr.size() < 11 || BigEndian(colr, 0, 4) != Type("nclx")) return;
  const auto matrix = static_cast<int>(BigEndian(colr, 8, 2));
  const bool full_range = (colr[10] & 0x80) != 0;
  if (*named == 0) found->matrix = matrix;
  if (found->matrix != matrix) found->matrix.reset();
  found->full_range = found->full_range && full_range;
  ++*named;
}

}  // namespace

AvifProperties ParseAvifProperties(Bytes bytes) {
  AvifProperties found;
  Bytes meta = ContentOf(bytes, Type("meta"));
  if (meta.size() < 4) return found;
  meta = meta.subspan(4);  // version and flags
  Bytes properties = ContentOf(ContentOf(meta, Type("iprp")), Type("ipco"));
  int coloured = 0;
  int named = 0;
  while (const std::optional<Box> box = NextBox(&properties)) {
    switch (box->type) {
      case Type("av1C"):
        AddDecoderConfiguration(box->content, &found, &coloured);
        break;
      case Type("colr"):
        AddColour(box->content, &found, &named);
        break;
      case Type("irot"):
      case Type("imir"):
        found.turned = true;
        break;
      case Type("clap"):
        found.cropped = true;
        break;
      default:
        break;
    }
  }
  return found;
}

}  // namespace lattice
