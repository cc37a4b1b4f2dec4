#include "test/native/gpu/nvjpeg/sample_jpeg.h"

#include <vips/vips.h>

#include <algorithm>
#include <cstddef>
#include <memory>

namespace lattice::test {
namespace {

constexpr int kQuality = 90;

// Pseudo-random, 0 to 255.
uint32_t Noise(uint32_t x, uint32_t y, uint32_t salt) {
  uint32_t hash = x * 0x9E3779B1u ^ y * 0x85EBCA77u ^ salt * 0xC2B2AE3Du;
  hash = (hash ^ hash >> 15) * 0x2C1B3C6Du;
  return hash >> 24;
}

// Noise of `cell` pixels between its points, interpolated.
uint32_t Smooth(uint32_t x, uint32_t y, uint32_t cell, uint32_t salt) {
  const uint32_t column = x / cell;
  const uint32_t row = y / cell;
  const uint32_t right = x % cell;
  const uint32_t down = y % cell;
  const auto across = [&](uint32_t at) {
    return Noise(column, at, salt) * (cell - right) + Noise(column + 1, at, salt) * right;
  };
  return (across(row) * (cell - down) + across(row + 1) * down) / (cell * cell);
}

// Coarse shapes strongly and fine ones weakly, as in photos.
std::vector<uint8_t> Pixels(int width, int height) {
  std::vector<uint8_t> pixels(size_t{3} * static_cast<size_t>(width) * static_cast<size_t>(height));
  size_t at = 0;
  for (uint32_t y = 0; y < static_cast<uint32_t>(height); ++y) {
    for (uint32_t x = 0; x < static_cast<uint32_t>(width); ++x) {
      const uint32_t shade = 20 * Smooth(x, y, 64, 1) + 8 * Smooth(x, y, 8, 2) + Noise(x, y, 3);
      const uint32_t tint = Smooth(x, y, 128, 4) / 4;
      for (uint32_t band = 0; band < 3; ++band) {
        pixels[at++] = static_cast<uint8_t>(std::min(255u, shade / 32 + tint * band / 3));
      }
    }
  }
  return pixels;
}

struct Unref {
  void operator()(VipsImage* image) const { g_object_unref(image); }
};
struct Free {
  void operator()(void* memory) const { g_free(memory); }
};

}  // namespace

std::vector<uint8_t> SampleJpeg(int width, int height) {
  const std::vector<uint8_t> pixels = Pixels(width, height);
  const std::unique_ptr<VipsImage, Unref> image(vips_image_new_from_memory(
      pixels.data(), pixels.size(), width, height, 3, VIPS_FORMAT_UCHAR));
  void* data = nullptr;
  size_t size = 0;
  const bool written =
      image != nullptr &&
      vips_jpegsave_buffer(image.get(), &data, &size, "Q", kQuality, "subsample_mode",
                           VIPS_FOREIGN_SUBSAMPLE_ON, nullptr) == 0;
  const std::unique_ptr<void, Free> owner(data);
  if (!written) {
    vips_error_clear();
    return {};
  }
  const auto* first = static_cast<const uint8_t*>(data);
  return {first, first + size};
}

}  // namespace lattice::test
