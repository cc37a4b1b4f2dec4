// Photo-like JPEGs that are made rather than kept, for measuring how long decoders take.
#ifndef LATTICE_IMAGE_SAMPLE_JPEG_H_
#define LATTICE_IMAGE_SAMPLE_JPEG_H_

#include <cstdint>
#include <vector>

#include "native/base/status.h"

namespace lattice {

// Baseline, 4:2:0, quality 90, about one bit a pixel as photos have; the same bytes each time.
// Sides from 16 on. kInternalError in libvips' place where it cannot write JPEG. After
// InitDecoders; thread-safe.
Result<std::vector<uint8_t>> MakeSampleJpeg(int width, int height);

}  // namespace lattice

#endif  // LATTICE_IMAGE_SAMPLE_JPEG_H_
