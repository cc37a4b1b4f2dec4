// The planes of 4:2:0 pictures, row after row, wherever they lie.
#ifndef LATTICE_TEST_GPU_NVJPEG_PLANES_H_
#define LATTICE_TEST_GPU_NVJPEG_PLANES_H_

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <vector>

#include "native/gpu/jpeg/gpu_image.h"
#include "native/image/decode.h"

namespace lattice::test {

using File = std::vector<uint8_t>;

// Y, Cb, Cr, without what pads them.
inline File PlanesOf(const GpuImage& image) {
  File all;
  const int across = image.orientation < 5 ? image.width : image.height;
  const int down = image.orientation < 5 ? image.height : image.width;
  for (size_t i = 0; i < 3; ++i) {
    const int width = i == 0 ? 2 * ChromaSize(across) : ChromaSize(across);
    const int rows = i == 0 ? down : ChromaSize(down);
    File row(static_cast<size_t>(width));
    for (int y = 0; y < rows; ++y) {
      const uint8_t* from = image.planes[i] + static_cast<ptrdiff_t>(image.pitches[i]) * y;
      // Odd sides have one column less than their chroma covers.
      const size_t shown = i == 0 ? static_cast<size_t>(across) : row.size();
      EXPECT_EQ(cudaMemcpy(row.data(), from, shown, cudaMemcpyDeviceToHost), cudaSuccess);
      all.insert(all.end(), row.begin(), row.begin() + static_cast<ptrdiff_t>(shown));
    }
  }
  return all;
}

inline File PlanesOf(const Image& image) {
  File all;
  const PackedPlanes packed = StoredPlanes(image);
  const int across = image.orientation < 5 ? image.width : image.height;
  const int down = image.orientation < 5 ? image.height : image.width;
  for (size_t i = 0; i < 3; ++i) {
    const int width = i == 0 ? across : ChromaSize(across);
    for (int y = 0; y < (i == 0 ? down : ChromaSize(down)); ++y) {
      const uint8_t* row =
          image.data.data() + packed.offsets[i] + static_cast<ptrdiff_t>(packed.pitches[i]) * y;
      all.insert(all.end(), row, row + width);
    }
  }
  return all;
}

}  // namespace lattice::test

#endif  // LATTICE_TEST_GPU_NVJPEG_PLANES_H_
