#include "native/gpu/jpeg/image_decoder.h"

#include <optional>
#include <utility>

namespace lattice {

Result<DecodedImage> ImageDecoder::Decode(const EncodedImage& encoded, const DecodeLimits& limits,
                                          std::pmr::memory_resource* memory) const {
  auto by = DecodedBy::kCpu;
  if (hardware_ != nullptr) {
    std::optional<Result<GpuImage>> on_gpu = hardware_->TryDecode(encoded, limits);
    if (on_gpu && on_gpu->ok()) {
      return DecodedImage{{}, **std::move(on_gpu), DecodedBy::kHardware};
    }
    if (on_gpu && on_gpu->status().code() == StatusCode::kGpuLost) return on_gpu->status();
    if (on_gpu) by = DecodedBy::kCpuAfterHardware;
  }
  auto image = lattice::Decode(encoded.bytes, limits, memory, PixelLayout::kYuv420);
  if (!image.ok()) return image.status();
  return DecodedImage{*std::move(image), {}, by};
}

}  // namespace lattice
