#include "native/preprocess/source_rows.h"

#include "native/preprocess/letterbox_sample.h"
#include "native/preprocess/yuv_sample.h"

namespace lattice {
namespace {

constexpr int kTapBytes = 8;  // that the widest instructions read at a tap

bool IsRgb(const Image& image) { return image.layout == PixelLayout::kRgb; }

}  // namespace

SourceRows::ColumnTable::ColumnTable(int source_width, int resized_width, int step, int readable)
    : first_byte(static_cast<size_t>(resized_width)),
      weights(static_cast<size_t>(resized_width)),
      taps{first_byte.data(), weights.data(), resized_width, 0, step * (source_width - 1)} {
  if (resized_width == 0) return;
  const double scale = SourceStep(source_width, resized_width);
  for (int x = 0; x < resized_width; ++x) {
    const Tap tap = ColumnTap(x, scale, source_width);
    const auto i = static_cast<size_t>(x);
    first_byte[i] = step * tap.first;
    weights[i] = tap.weight1 << 16 | tap.weight0;
    if (first_byte[i] + kTapBytes <= readable) taps.wide_count = x + 1;
  }
}

SourceRows::SourceRows(const Image& source, int resized_width)
    : source_(source),
      planes_(PackPlanes(source.layout, source.width, source.height)),
      table_(source.width, resized_width, IsRgb(source) ? 3 : 4,
             IsRgb(source) ? 3 * source.width : static_cast<int>(YuvRowBytes(source.width))),
      scratch_(IsRgb(source) ? 0 : source.width),
      levels_(IsRgb(source) ? 0 : YuvRowBytes(source.width)) {}

const uint8_t* SourceRows::LevelsOf(int y) {
  const uint8_t* planes[3];
  for (size_t i = 0; i < 3; ++i) planes[i] = source_.data.data() + planes_.offsets[i];
  const YuvRow row = YuvRowAt(planes, planes_.pitches, source_.width, source_.height, y);
  BestYuvRows().convert(row, source_.width, scratch_, levels_.data());
  return levels_.data();
}

void SourceRows::Blend(int y, int16_t* out) {
  const LetterboxRows& rows = BestLetterboxRows();
  if (!IsRgb(source_)) return rows.blend_level_columns(LevelsOf(y), table_.taps, out);
  const size_t offset = static_cast<size_t>(planes_.pitches[0]) * static_cast<size_t>(y);
  rows.blend_columns(source_.data.data() + offset, table_.taps, out);
}

void SourceRows::Split(int y, float* red, float* green, float* blue) {
  const LetterboxRows& rows = BestLetterboxRows();
  if (!IsRgb(source_)) return rows.split_planes(LevelsOf(y), source_.width, red, green, blue);
  const size_t offset = static_cast<size_t>(planes_.pitches[0]) * static_cast<size_t>(y);
  rows.split_rgb(source_.data.data() + offset, static_cast<int64_t>(source_.data.size() - offset),
                 source_.width, red, green, blue);
}

}  // namespace lattice
