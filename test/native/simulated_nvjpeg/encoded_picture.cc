#include "test/native/simulated_nvjpeg/encoded_picture.h"

#include <turbojpeg.h>

#include <memory>
#include <type_traits>
#include <utility>

#include "native/image/jpeg_header.h"

namespace lattice::simulated {
namespace {

struct DestroyHandle {
  void operator()(void* handle) const { tjDestroy(handle); }
};
using Decompressor = std::unique_ptr<std::remove_pointer_t<tjhandle>, DestroyHandle>;

struct Sampling {
  uint8_t luma;
  nvjpegChromaSubsampling_t name;
  int turbo;
};
// By the factors of the first component, where the others have 1 x 1.
constexpr Sampling kSamplings[] = {
    {0x11, NVJPEG_CSS_444, TJSAMP_444}, {0x21, NVJPEG_CSS_422, TJSAMP_422},
    {0x22, NVJPEG_CSS_420, TJSAMP_420}, {0x12, NVJPEG_CSS_440, TJSAMP_440},
    {0x41, NVJPEG_CSS_411, TJSAMP_411}, {0x42, NVJPEG_CSS_410, -1}};

nvjpegChromaSubsampling_t SamplingOf(const JpegHeader& jpeg) {
  if (jpeg.components == 1) return NVJPEG_CSS_GRAY;
  if (jpeg.components != 3 || jpeg.sampling[1] != 0x11 || jpeg.sampling[2] != 0x11) {
    return NVJPEG_CSS_UNKNOWN;
  }
  for (const Sampling& sampling : kSamplings) {
    if (sampling.luma == jpeg.sampling[0]) return sampling.name;
  }
  return NVJPEG_CSS_UNKNOWN;
}

int TurboSamplingOf(const PictureHeader& header) {
  if (header.sampling == NVJPEG_CSS_GRAY) return TJSAMP_GRAY;
  for (const Sampling& sampling : kSamplings) {
    if (sampling.name == header.sampling) return sampling.turbo;
  }
  return -1;
}

// Rounded up to whole `units` first.
std::array<PlaneSides, 3> Planes(const PictureHeader& header, unsigned units) {
  const auto up = [units](unsigned side) {
    return static_cast<int>((side + units - 1) / units * units);
  };
  std::array<PlaneSides, 3> planes;
  const int sampling = TurboSamplingOf(header);
  for (int i = 0; i < (header.components == 1 ? 1 : 3); ++i) {
    planes[static_cast<size_t>(i)] = {
        static_cast<size_t>(tjPlaneWidth(i, up(header.width), sampling)),
        static_cast<size_t>(tjPlaneHeight(i, up(header.height), sampling))};
  }
  return planes;
}

void Roughen(const PictureHeader& header, const nvjpegImage_t& target) {
  const std::array<PlaneSides, 3> planes = Planes(header, 1);
  for (size_t i = 0; i < planes.size(); ++i) {
    for (size_t y = 0; y < planes[i].height; ++y) {
      uint8_t* row = target.channel[i] + y * target.pitch[i];
      for (size_t x = y * y % 11; x < planes[i].width; x += 11) row[x] ^= 1;
    }
  }
}

}  // namespace

nvjpegStatus_t ReadPictureHeader(std::span<const uint8_t> file, PictureHeader* header) {
  const auto jpeg = ParseJpegHeader(file);
  if (!jpeg || jpeg->width < 1 || jpeg->height < 1) return NVJPEG_STATUS_BAD_JPEG;
  if (jpeg->process > 3 || jpeg->precision != 8) return NVJPEG_STATUS_JPEG_NOT_SUPPORTED;
  header->width = static_cast<unsigned>(jpeg->width);
  header->height = static_cast<unsigned>(jpeg->height);
  header->components = jpeg->components;
  header->encoding = static_cast<nvjpegJpegEncoding_t>(0xC0 + jpeg->process);
  header->sampling = SamplingOf(*jpeg);
  header->single_scan = jpeg->scans == 1;
  return NVJPEG_STATUS_SUCCESS;
}

bool EnginesTake(const PictureHeader& header) {
  return TurboSamplingOf(header) >= 0 && header.encoding == NVJPEG_ENCODING_BASELINE_DCT &&
         header.single_scan && header.sampling != NVJPEG_CSS_411;
}

std::array<PlaneSides, 3> WholeBlocksOf(const PictureHeader& header) { return Planes(header, 16); }

void DecodePicture(std::span<const uint8_t> file, const PictureHeader& header,
                   const nvjpegImage_t& target) {
  const Decompressor turbo(tjInitDecompress());
  if (!turbo) return;
  int width = 0;
  int height = 0;
  int sampling = 0;
  int colours = 0;
  const auto size = static_cast<unsigned long>(file.size());  // NOLINT(google-runtime-int)
  if (tjDecompressHeader3(turbo.get(), file.data(), size, &width, &height, &sampling, &colours) !=
          0 ||
      sampling != TurboSamplingOf(header)) {
    return;
  }
  unsigned char* planes[3] = {target.channel[0], target.channel[1], target.channel[2]};
  int pitches[3];
  for (size_t i = 0; i < 3; ++i) pitches[i] = static_cast<int>(target.pitch[i]);
  (void)tjDecompressToYUVPlanes(turbo.get(), file.data(), size, planes, width, pitches, height,
                                TJFLAG_ACCURATEDCT);
  Roughen(header, target);
}

}  // namespace lattice::simulated
