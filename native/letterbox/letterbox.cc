#include "native/letterbox/letterbox.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/letterbox/letterbox_rows.h"
#include "native/letterbox/letterbox_sample.h"
#include "native/letterbox/source_rows.h"
#include "native/letterbox/yuv_rows.h"

namespace lattice {
namespace {

// The three planes of the network input.
template <typename Value>
struct Planes {
  Value* out;
  size_t width;
  size_t height;

  Value* Row(size_t plane, int y, int x) const {
    return out + (plane * height + static_cast<size_t>(y)) * width + static_cast<size_t>(x);
  }
  PlaneRows<Value> Rows(int y, int x) const { return {Row(0, y, x), Row(1, y, x), Row(2, y, x)}; }
};

int RoundedAtLeastOne(double value) { return std::max(1, static_cast<int>(std::nearbyint(value))); }

int PadBefore(int input, int resized) {
  return static_cast<int>(std::nearbyint((input - resized) / 2.0 - 0.1));
}

template <typename Value>
void FillPadding(const Planes<Value>& planes, const LetterboxTransform& t) {
  const Value grey = InputNumber<Value>(kPadGrey);
  const auto width = static_cast<int>(planes.width);
  const auto height = static_cast<int>(planes.height);
  const int right = t.pad_left + t.resized_width;
  const int bottom = t.pad_top + t.resized_height;
  for (size_t plane = 0; plane < 3; ++plane) {
    std::fill(planes.Row(plane, 0, 0), planes.Row(plane, t.pad_top, 0), grey);
    std::fill(planes.Row(plane, bottom, 0), planes.Row(plane, height, 0), grey);
    if (t.resized_width == width) continue;
    for (int y = t.pad_top; y < bottom; ++y) {
      std::fill(planes.Row(plane, y, 0), planes.Row(plane, y, t.pad_left), grey);
      std::fill(planes.Row(plane, y, right), planes.Row(plane, y, width), grey);
    }
  }
}

template <typename Value>
void CopyUnscaled(SourceRows& source, const LetterboxTransform& t, const Planes<Value>& planes) {
  for (int y = 0; y < t.resized_height; ++y) {
    source.Split(y, planes.Rows(y + t.pad_top, t.pad_left));
  }
}

// The two last source rows that were blended across: the next target row often needs one of them
// again.
class BlendedRows {
 public:
  BlendedRows(SourceRows& source, int resized_width)
      : source_(source),
        row_size_(size_t{4} * static_cast<size_t>(resized_width)),
        storage_(2 * row_size_) {}

  // Valid until the call after the next. Ask for the two rows of a target row one after the other.
  const int16_t* Row(int y) {
    for (size_t slot = 0; slot < 2; ++slot) {
      if (held_[slot] == y) {
        next_ = 1 - slot;
        return storage_.data() + slot * row_size_;
      }
    }
    int16_t* row = storage_.data() + next_ * row_size_;
    source_.Blend(y, row);
    held_[next_] = y;
    next_ = 1 - next_;
    return row;
  }

 private:
  SourceRows& source_;
  size_t row_size_;
  std::vector<int16_t> storage_;
  int held_[2] = {-1, -1};
  size_t next_ = 0;
};

template <typename Value>
void Resize(SourceRows& source, const LetterboxTransform& t, const Planes<Value>& planes) {
  const LetterboxRows& rows = BestLetterboxRows();
  BlendedRows blended(source, t.resized_width);
  std::vector<uint8_t> levels(size_t{4} * static_cast<size_t>(t.resized_width));
  const double scale = SourceStep(t.source_height, t.resized_height);
  for (int y = 0; y < t.resized_height; ++y) {
    const Tap tap = RowTap(y, scale);
    const int16_t* upper = blended.Row(ClampIndex(tap.first, t.source_height));
    const int16_t* lower = blended.Row(ClampIndex(tap.first + 1, t.source_height));
    rows.blend_rows(upper, lower, tap.weight0, tap.weight1, t.resized_width, levels.data());
    rows.SplitTo<Value>().levels(levels.data(), t.resized_width,
                                 planes.Rows(y + t.pad_top, t.pad_left));
  }
}

template <typename Value>
void WriteInput(const PictureView& source, const LetterboxTransform& transform, int input_width,
                int input_height, Value* out) {
  const Planes<Value> planes{out, static_cast<size_t>(input_width),
                             static_cast<size_t>(input_height)};
  FillPadding(planes, transform);
  SourceRows rows(source, transform);
  if (IsUnscaled(transform)) {
    CopyUnscaled(rows, transform, planes);
  } else {
    Resize(rows, transform, planes);
  }
}

}  // namespace

LetterboxTransform ComputeLetterbox(int source_width, int source_height, int input_width,
                                    int input_height) {
  const double scale = std::min(static_cast<double>(input_width) / source_width,
                                static_cast<double>(input_height) / source_height);
  LetterboxTransform t;
  t.scale_x = static_cast<float>(scale);
  t.scale_y = t.scale_x;
  t.resized_width = std::min(RoundedAtLeastOne(source_width * scale), input_width);
  t.resized_height = std::min(RoundedAtLeastOne(source_height * scale), input_height);
  t.source_width = source_width;
  t.source_height = source_height;
  return CentredIn(t, input_width, input_height);
}

LetterboxTransform ComputeStretch(int source_width, int source_height, int input_width,
                                  int input_height) {
  LetterboxTransform t;
  t.scale_x = static_cast<float>(static_cast<double>(input_width) / source_width);
  t.scale_y = static_cast<float>(static_cast<double>(input_height) / source_height);
  t.resized_width = input_width;
  t.resized_height = input_height;
  t.source_width = source_width;
  t.source_height = source_height;
  return t;
}

LetterboxTransform CentredIn(LetterboxTransform transform, int input_width, int input_height) {
  transform.pad_left = PadBefore(input_width, transform.resized_width);
  transform.pad_top = PadBefore(input_height, transform.resized_height);
  return transform;
}

PixelLayout FastestLayout() {
  return BestYuvRows().fast ? PixelLayout::kYuv420 : PixelLayout::kRgb;
}

void Letterbox(const PictureView& source, const LetterboxTransform& transform, int input_width,
               int input_height, float* out) {
  WriteInput(source, transform, input_width, input_height, out);
}

void Letterbox(const PictureView& source, const LetterboxTransform& transform, int input_width,
               int input_height, uint8_t* out) {
  WriteInput(source, transform, input_width, input_height, out);
}

}  // namespace lattice
