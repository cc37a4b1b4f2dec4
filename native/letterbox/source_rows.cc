#include "native/letterbox/source_rows.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "native/letterbox/letterbox_sample.h"
#include "native/letterbox/yuv_sample.h"

namespace lattice {
namespace {

constexpr int kTapBytes = 8;  // bytes that the widest instructions read at a tap's first column

bool IsRgb(const PictureView& image) { return image.layout == PixelLayout::kRgb; }

// Width of planes that are converted row by row; 0 for RGB, which is always upright, and for a
// quarter turn, which is sampled by column.
int ConvertedWidth(const PictureView& image) {
  return IsRgb(image) || Turn::Of(image.orientation).quarter ? 0 : image.width;
}

// Both columns of each tap, interleaved.
std::vector<int> SampledColumns(const LetterboxTransform& t) {
  std::vector<int> columns;
  const double scale = SourceStep(t.source_width, t.resized_width);
  for (int x = 0; x < t.resized_width; ++x) {
    const int first = ColumnTap(x, scale, t.source_width).first;
    columns.push_back(first);
    columns.push_back(ClampIndex(first + 1, t.source_width));
  }
  return columns;
}

// Each row of the taps once.
std::vector<int> SampledRows(const LetterboxTransform& t) {
  std::vector<int> rows;
  const double scale = SourceStep(t.source_height, t.resized_height);
  for (int y = 0; y < t.resized_height; ++y) {
    const int first = RowTap(y, scale).first;
    for (const int row : {first, first + 1}) {
      const int inside = ClampIndex(row, t.source_height);
      if (rows.empty() || rows.back() < inside) rows.push_back(inside);
    }
  }
  return rows;
}

std::vector<int> AllOf(int count) {
  std::vector<int> all(static_cast<size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void Mirror(int width, uint8_t* levels) {
  uint32_t pixel[2];
  for (int x = 0; x < width / 2; ++x) {
    uint8_t* const left = levels + 4 * x;
    uint8_t* const right = levels + 4 * (width - 1 - x);
    std::memcpy(&pixel[0], left, 4);
    std::memcpy(&pixel[1], right, 4);
    std::memcpy(left, &pixel[1], 4);
    std::memcpy(right, &pixel[0], 4);
  }
}

}  // namespace

SourceRows::SourceRows(const PictureView& source, const LetterboxTransform& transform)
    : source_(source),
      turn_(Turn::Of(source.orientation)),
      scratch_(ConvertedWidth(source)),
      levels_(YuvRowBytes(ConvertedWidth(source))) {
  if (turn_.quarter) SampleUpright(transform);
  if (!IsUnscaled(transform)) FillTable(transform);
}

void SourceRows::SampleUpright(const LetterboxTransform& transform) {
  const bool all = IsUnscaled(transform);
  const SampledPositions sampled{all ? AllOf(source_.width) : SampledColumns(transform),
                                 all ? AllOf(source_.height) : SampledRows(transform)};
  upright_.emplace(source_, sampled);
  upright_rows_.resize(static_cast<size_t>(source_.height));
  for (size_t i = 0; i < sampled.rows.size(); ++i) {
    upright_rows_[static_cast<size_t>(sampled.rows[i])] = i;
  }
}

void SourceRows::FillTable(const LetterboxTransform& transform) {
  const int pixel_bytes = IsRgb(source_) ? 3 : 4;
  // Turned levels hold the two columns of each tap and nothing else.
  const int columns = upright_ ? 2 * transform.resized_width : source_.width;
  const int readable = upright_         ? static_cast<int>(upright_->row_bytes())
                       : IsRgb(source_) ? 3 * source_.width
                                        : static_cast<int>(levels_.size());
  const auto count = static_cast<size_t>(transform.resized_width);
  table_.first_byte.resize(count);
  table_.weights.resize(count);
  table_.taps = {table_.first_byte.data(), table_.weights.data(), transform.resized_width, 0,
                 pixel_bytes * (columns - 1)};
  const double scale = SourceStep(source_.width, transform.resized_width);
  for (int x = 0; x < transform.resized_width; ++x) {
    const Tap tap = ColumnTap(x, scale, source_.width);
    const auto i = static_cast<size_t>(x);
    table_.first_byte[i] = pixel_bytes * (upright_ ? 2 * x : tap.first);
    table_.weights[i] = tap.weight1 << 16 | tap.weight0;
    if (table_.first_byte[i] + kTapBytes <= readable) table_.taps.wide_count = x + 1;
  }
}

const uint8_t* SourceRows::RgbRow(int y) const {
  return source_.bytes + static_cast<size_t>(source_.planes.pitches[0]) * static_cast<size_t>(y);
}

const uint8_t* SourceRows::LevelsRow(int y) {
  if (upright_) return upright_->Row(upright_rows_[static_cast<size_t>(y)]);
  const uint8_t* planes[3];
  for (size_t i = 0; i < 3; ++i) planes[i] = source_.bytes + source_.planes.offsets[i];
  const int stored = turn_.At(0, y, source_.width, source_.height).y;
  const YuvRow row =
      YuvRowAt(planes, source_.planes.pitches, source_.width, source_.height, stored);
  BestYuvRows().convert(row, source_.width, scratch_, levels_.data());
  if (turn_.from_right) Mirror(source_.width, levels_.data());
  return levels_.data();
}

void SourceRows::Blend(int y, int16_t* out) {
  const LetterboxRows& rows = BestLetterboxRows();
  if (IsRgb(source_)) {
    rows.blend_columns(RgbRow(y), table_.taps, out);
  } else {
    rows.blend_level_columns(LevelsRow(y), table_.taps, out);
  }
}

template <typename Value>
void SourceRows::Split(int y, PlaneRows<Value> out) {
  const PlaneSplits<Value>& splits = BestLetterboxRows().SplitTo<Value>();
  if (IsRgb(source_)) {
    const uint8_t* const row = RgbRow(y);
    splits.rgb(row, source_.bytes + source_.size - row, source_.width, out);
  } else {
    splits.levels(LevelsRow(y), source_.width, out);
  }
}

template void SourceRows::Split(int y, PlaneRows<float> out);
template void SourceRows::Split(int y, PlaneRows<uint8_t> out);

}  // namespace lattice
