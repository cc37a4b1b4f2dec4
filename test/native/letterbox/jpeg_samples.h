// JPEGs of noise, and photos of the shared test data.
#ifndef LATTICE_TEST_LETTERBOX_JPEG_SAMPLES_H_
#define LATTICE_TEST_LETTERBOX_JPEG_SAMPLES_H_

#include <turbojpeg.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

namespace lattice::test {

// `sampling` is a TJSAMP, `flags` the encoder's. Empty where the encoder refuses.
inline std::vector<uint8_t> NoiseJpeg(int width, int height, int sampling, int flags,
                                      std::mt19937& random) {
  std::vector<uint8_t> noise(static_cast<size_t>(3 * width * height));
  for (uint8_t& level : noise) level = static_cast<uint8_t>(random());
  const tjhandle encoder = tjInitCompress();
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int)
  std::vector<uint8_t> jpeg;
  if (tjCompress2(encoder, noise.data(), width, 0, height, TJPF_RGB, &bytes, &size, sampling,
                  static_cast<int>(50 + random() % 50), flags) == 0) {
    jpeg.assign(bytes, bytes + size);
  }
  tjFree(bytes);
  tjDestroy(encoder);
  return jpeg;
}

inline std::vector<uint8_t> BytesOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// At most `most` of a folder, evenly chosen.
inline std::vector<std::filesystem::path> JpegsBeneath(const std::filesystem::path& folder,
                                                       size_t most) {
  std::vector<std::filesystem::path> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const auto extension = entry.path().extension();
    if (entry.is_regular_file() && (extension == ".jpg" || extension == ".jpeg")) {
      all.push_back(entry.path());
    }
  }
  std::sort(all.begin(), all.end());
  if (all.size() <= most) return all;
  std::vector<std::filesystem::path> chosen;
  for (size_t i = 0; i < most; ++i) chosen.push_back(all[i * all.size() / most]);
  return chosen;
}

}  // namespace lattice::test

#endif  // LATTICE_TEST_LETTERBOX_JPEG_SAMPLES_H_
