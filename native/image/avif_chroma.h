// Colours of 4:2:0 pictures, interpolated between the samples that the file holds.
#ifndef LATTICE_IMAGE_AVIF_CHROMA_H_
#define LATTICE_IMAGE_AVIF_CHROMA_H_

#include "native/image/avif_properties.h"
#include "native/image/decode.h"

namespace lattice {

// libheif repeats each chroma sample of a 4:2:0 picture over its 2 x 2 pixels, where libavif (in
// OpenCV, Pillow and browsers) interpolates; models see the difference at saturated edges. Finds
// the samples again in the repeated ones and interpolates as libavif does: weights 9, 3, 3 and 1 of
// sixteen, sample centres between the pixels, edges continued.
//
// `image` is what libheif made of a file with these properties, before any EXIF orientation. Left
// as it is where its blocks cannot be known: other chroma, another matrix than BT.601 or BT.709,
// cropped, or turned with an odd side. Grey pixels among grey ones never change. Takes memory for a
// few rows. Thread-safe.
void InterpolateRepeatedChroma(const AvifProperties& properties, Image* image);

}  // namespace lattice

#endif  // LATTICE_IMAGE_AVIF_CHROMA_H_
