// A JPEG as the simulated decoders see it: what its header says, and its planes.
#ifndef LATTICE_TEST_SIMULATED_NVJPEG_ENCODED_PICTURE_H_
#define LATTICE_TEST_SIMULATED_NVJPEG_ENCODED_PICTURE_H_

#include <nvjpeg.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace lattice::simulated {

struct PictureHeader {
  unsigned width = 0;
  unsigned height = 0;
  int components = 0;
  nvjpegJpegEncoding_t encoding = NVJPEG_ENCODING_UNKNOWN;
  nvjpegChromaSubsampling_t sampling = NVJPEG_CSS_UNKNOWN;
  bool single_scan = false;
};

// NVJPEG_STATUS_BAD_JPEG where there is no header, NVJPEG_STATUS_JPEG_NOT_SUPPORTED for what nvJPEG
// does not know at all: arithmetic coding, 12 bits.
nvjpegStatus_t ReadPictureHeader(std::span<const uint8_t> file, PictureHeader* header);

// Baseline of one scan, and neither 4:1:0 nor 4:1:1.
bool EnginesTake(const PictureHeader& header);

struct PlaneSides {
  size_t width = 0;
  size_t height = 0;
};
// Sides of the planes that are there, up to the end of the last blocks.
std::array<PlaneSides, 3> WholeBlocksOf(const PictureHeader& header);

// Damage in the middle goes unnoticed. Some pixels differ in the last bit from libjpeg's, as those
// of another inverse transform do.
void DecodePicture(std::span<const uint8_t> file, const PictureHeader& header,
                   const nvjpegImage_t& target);

}  // namespace lattice::simulated

#endif  // LATTICE_TEST_SIMULATED_NVJPEG_ENCODED_PICTURE_H_
