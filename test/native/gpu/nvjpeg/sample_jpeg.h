// JPEGs like photos of any size, made rather than kept.
#ifndef LATTICE_TEST_GPU_NVJPEG_SAMPLE_JPEG_H_
#define LATTICE_TEST_GPU_NVJPEG_SAMPLE_JPEG_H_

#include <cstdint>
#include <vector>

namespace lattice::test {

// Baseline, 4:2:0, quality 90, about one bit per pixel as photos have; the same bytes each time.
// Sides from 16 on. Empty where libvips cannot write JPEG. After InitDecoders; thread-safe.
std::vector<uint8_t> SampleJpeg(int width, int height);

}  // namespace lattice::test

#endif  // LATTICE_TEST_GPU_NVJPEG_SAMPLE_JPEG_H_
