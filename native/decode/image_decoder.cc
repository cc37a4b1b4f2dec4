#include "native/decode/image_decoder.h"

#include <optional>
#include <utility>

namespace lattice {

Result<DecodedImage> ImageDecoder::Decode(const DecodeRequest& request) {
  if (hardware_ != nullptr) {
    std::optional<Result<GpuImage>> on_gpu = hardware_->TryDecode(request);
    if (on_gpu && on_gpu->ok()) {
      ++hardware_images_;
      return DecodedImage{{}, **std::move(on_gpu)};
    }
    if (on_gpu && on_gpu->status().code() == StatusCode::kGpuLost) return on_gpu->status();
    if (on_gpu) ++retries_;
  }
  ++cpu_;
  auto image =
      lattice::Decode(request.encoded.bytes, request.limits, request.memory, request.wanted);
  if (!image.ok()) return image.status();
  return DecodedImage{*std::move(image)};
}

}  // namespace lattice
