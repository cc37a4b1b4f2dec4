#include "native/image/avif_chroma.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace lattice {
namespace {

// Nearest whole number; ties go up. Quick, because it never meets values below the offset.
float Rounded(float value) {
  constexpr int kOffset = 1024;
  return static_cast<float>(static_cast<int>(value + (kOffset + 0.5F)) - kOffset);
}

struct Chroma {
  float cb, cr;  // -128 to 127
};

using Rgb = std::array<float, 3>;

// Full-range YCbCr of one matrix. Where the file's own numbers were of this kind (`whole`), each
// step is rounded back to them, which takes out what rounding to RGB added.
class ColourMatrix {
 public:
  ColourMatrix(float red, float blue, bool whole)
      : luma_{red, 1 - red - blue, blue},
        cb_to_blue_(2 - 2 * blue),
        cr_to_red_(2 - 2 * red),
        blue_to_cb_(1 / cb_to_blue_),
        red_to_cr_(1 / cr_to_red_),
        red_to_green_(red / luma_[1]),
        blue_to_green_(blue / luma_[1]),
        whole_(whole) {}

  float Level(float value) const { return whole_ ? Rounded(value) : value; }

  float LumaOf(const uint8_t* rgb) const {
    return luma_[0] * rgb[0] + luma_[1] * rgb[1] + luma_[2] * rgb[2];
  }
  Chroma ChromaOf(const uint8_t* rgb) const {
    const float luma = LumaOf(rgb);
    return {std::min(Level((rgb[2] - luma) * blue_to_cb_), 127.0F),
            std::min(Level((rgb[0] - luma) * red_to_cr_), 127.0F)};
  }
  // What the chroma adds to the luma in each channel.
  Rgb Added(Chroma chroma) const {
    const float blue = cb_to_blue_ * chroma.cb;
    const float red = cr_to_red_ * chroma.cr;
    return {red, -(red_to_green_ * red + blue_to_green_ * blue), blue};
  }

 private:
  Rgb luma_;
  float cb_to_blue_, cr_to_red_;
  float blue_to_cb_, red_to_cr_;
  float red_to_green_, blue_to_green_;
  bool whole_;
};

bool IsClipped(uint8_t value) { return value == 0 || value == 255; }

bool AnyClipped(const uint8_t* rgb) {
  return IsClipped(rgb[0]) || IsClipped(rgb[1]) || IsClipped(rgb[2]);
}

// Luma of a pixel whose block has this chroma. A channel that was cut off at black or white says
// nothing about it, so the others are asked alone.
float LumaOf(const uint8_t* rgb, Chroma chroma, const ColourMatrix& matrix) {
  if (!AnyClipped(rgb)) return matrix.Level(matrix.LumaOf(rgb));
  const Rgb added = matrix.Added(chroma);
  float sum = 0;
  float count = 0;
  for (size_t channel = 0; channel < 3; ++channel) {
    if (IsClipped(rgb[channel])) continue;
    sum += rgb[channel] - added[channel];
    ++count;
  }
  return matrix.Level(count == 0 ? matrix.LumaOf(rgb) : sum / count);
}

// One row of chroma samples, the first and the last one repeated beyond the edges.
class ChromaRow {
 public:
  explicit ChromaRow(size_t samples) : samples_(samples + 2) {}

  // Index -1 to the number of samples.
  const Chroma& At(ptrdiff_t index) const { return samples_[static_cast<size_t>(index + 1)]; }

  // From the two pixel rows (`lower` null below an odd height) that repeat the samples.
  void Recover(const uint8_t* upper, const uint8_t* lower, int width, const ColourMatrix& matrix) {
    for (size_t i = 1; i + 1 < samples_.size(); ++i) {
      const size_t first = 2 * (i - 1);
      const size_t columns = std::min<size_t>(2, static_cast<size_t>(width) - first);
      samples_[i] = Sample(upper, lower, first, columns, matrix);
    }
    samples_.front() = samples_[1];
    samples_.back() = samples_[samples_.size() - 2];
  }

 private:
  // The mean of a block. Pixels with a channel cut off have another hue, and count only where a
  // block has no others.
  static Chroma Sample(const uint8_t* upper, const uint8_t* lower, size_t first, size_t columns,
                       const ColourMatrix& matrix) {
    struct Sum {
      float cb = 0, cr = 0, count = 0;
    } whole, clipped;
    for (const uint8_t* row : {upper, lower}) {
      if (row == nullptr) continue;
      for (size_t x = first; x < first + columns; ++x) {
        const Chroma chroma = matrix.ChromaOf(row + 3 * x);
        Sum& sum = AnyClipped(row + 3 * x) ? clipped : whole;
        sum.cb += chroma.cb;
        sum.cr += chroma.cr;
        ++sum.count;
      }
    }
    const Sum& sum = whole.count > 0 ? whole : clipped;
    return {matrix.Level(sum.cb / sum.count), matrix.Level(sum.cr / sum.count)};
  }

  std::vector<Chroma> samples_;
};

// `near` is the row's own samples, `far` those of the block row on its other side.
Chroma Interpolated(const ChromaRow& near, const ChromaRow& far, ptrdiff_t x,
                    const ColourMatrix& matrix) {
  const ptrdiff_t at = x / 2;
  const ptrdiff_t beside = x % 2 == 0 ? at - 1 : at + 1;
  const Chroma& a = near.At(at);
  const Chroma& b = near.At(beside);
  const Chroma& c = far.At(at);
  const Chroma& d = far.At(beside);
  return {matrix.Level((9 * a.cb + 3 * (b.cb + c.cb) + d.cb) / 16),
          matrix.Level((9 * a.cr + 3 * (b.cr + c.cr) + d.cr) / 16)};
}

void Recolour(uint8_t* row, int width, const ChromaRow& near, const ChromaRow& far,
              const ColourMatrix& matrix) {
  for (ptrdiff_t x = 0; x < width; ++x) {
    uint8_t* rgb = row + 3 * x;
    const float luma = LumaOf(rgb, near.At(x / 2), matrix);
    const Rgb added = matrix.Added(Interpolated(near, far, x, matrix));
    for (size_t channel = 0; channel < 3; ++channel) {
      const float value = Rounded(luma + added[channel]);
      rgb[channel] = static_cast<uint8_t>(std::clamp(value, 0.0F, 255.0F));
    }
  }
}

// Rows change in place: a block row is recoloured once the samples of the next one are known.
void Interpolate(const ColourMatrix& matrix, Image* image) {
  const int block_rows = (image->height + 1) / 2;
  const auto row = [image](int y) {
    if (y >= image->height) return static_cast<uint8_t*>(nullptr);
    const size_t row_bytes = size_t{3} * static_cast<size_t>(image->width);
    return image->data.data() + row_bytes * static_cast<size_t>(y);
  };
  const auto samples = static_cast<size_t>((image->width + 1) / 2);
  ChromaRow above(samples);
  ChromaRow here(samples);
  ChromaRow below(samples);
  here.Recover(row(0), row(1), image->width, matrix);
  above = here;
  for (int i = 0; i < block_rows; ++i) {
    if (i + 1 < block_rows) {
      below.Recover(row(2 * i + 2), row(2 * i + 3), image->width, matrix);
    } else {
      below = here;
    }
    Recolour(row(2 * i), image->width, here, above, matrix);
    if (uint8_t* lower = row(2 * i + 1)) Recolour(lower, image->width, here, below, matrix);
    std::swap(above, here);
    std::swap(here, below);
  }
}

std::optional<ColourMatrix> MatrixOf(const AvifProperties& properties) {
  const bool whole = properties.eight_bit && properties.full_range;
  switch (properties.matrix.value_or(0)) {
    case kMatrixBt709:
      return ColourMatrix(0.2126F, 0.0722F, whole);
    case kMatrixUnspecified:
    case kMatrixBt470Bg:
    case kMatrixBt601:
      return ColourMatrix(0.299F, 0.114F, whole);
    default:
      return std::nullopt;
  }
}

}  // namespace

void InterpolateRepeatedChroma(const AvifProperties& properties, Image* image) {
  if (!properties.halved_chroma || properties.cropped) return;
  // Turning a picture with an odd side moves its blocks off the even rows and columns.
  if (properties.turned && (image->width % 2 != 0 || image->height % 2 != 0)) return;
  if (image->width <= 0 || image->height <= 0) return;
  if (const std::optional<ColourMatrix> matrix = MatrixOf(properties)) Interpolate(*matrix, image);
}

}  // namespace lattice
