// Pixels -> network input: scaled to fit and centred on grey 114, or stretched to the whole input;
// RGB / 255, or as bytes, planar (NCHW).
// Bilinear with two taps, half-pixel centres, no antialiasing: OpenCV's INTER_LINEAR, which the
// reference uses.
#ifndef LATTICE_LETTERBOX_LETTERBOX_H_
#define LATTICE_LETTERBOX_LETTERBOX_H_

#include <cstdint>

#include "native/image/picture_view.h"

namespace lattice {

// Maps network input pixels back to source pixels: source = (input - pad) / scale.
struct LetterboxTransform {
  float scale_x = 1;  // both r = min(input_w / source_w, input_h / source_h) unless it is stretched
  float scale_y = 1;
  int pad_left = 0;
  int pad_top = 0;
  int resized_width = 0;   // round(source_w * r)
  int resized_height = 0;  // round(source_h * r)
  int source_width = 0;
  int source_height = 0;
};

// Whether every source pixel is an input pixel.
inline bool IsUnscaled(const LetterboxTransform& t) {
  return t.resized_width == t.source_width && t.resized_height == t.source_height;
}

// Reference rounding: pad = (input - resized) / 2, left/top = round(pad - 0.1).
LetterboxTransform ComputeLetterbox(int source_width, int source_height, int input_width,
                                    int input_height);

// Fills the input, whatever the proportions of the picture.
LetterboxTransform ComputeStretch(int source_width, int source_height, int input_width,
                                  int input_height);

// The same picture, centred in an input that is no smaller than it.
LetterboxTransform CentredIn(LetterboxTransform transform, int input_width, int input_height);

// The layout in which decoding and letterboxing a JPEG take the least time on this machine.
PixelLayout FastestLayout();

// Writes 3 * input_width * input_height floats to `out` (R plane, G plane, B plane). Never fails;
// `out` is written in full. Thread-safe. Rounds the interpolated value to 8 bit first, as the
// reference does. Planes give the same bits as their RGB, turned.
void Letterbox(const PictureView& source, const LetterboxTransform& transform, int input_width,
               int input_height, float* out);
// The same as bytes, 0 to 255.
void Letterbox(const PictureView& source, const LetterboxTransform& transform, int input_width,
               int input_height, uint8_t* out);

}  // namespace lattice

#endif  // LATTICE_LETTERBOX_LETTERBOX_H_
