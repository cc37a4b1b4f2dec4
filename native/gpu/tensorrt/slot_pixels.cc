#include "native/gpu/tensorrt/slot_pixels.h"

#include <algorithm>

#include "native/gpu/cuda/cuda_status.h"

namespace lattice {
namespace {

constexpr size_t kAlignment = 256;

// The smallest rectangle that holds both.
Rect Around(const Rect& a, const Rect& b) {
  const int left = std::min(a.left, b.left);
  const int top = std::min(a.top, b.top);
  return {left, top, std::max(a.left + a.width, b.left + b.width) - left,
          std::max(a.top + a.height, b.top + b.height) - top};
}

DeviceImage DescribePlanes(const GpuImage& planes, const LetterboxTransform& transform) {
  DeviceImage image{};
  image.transform = transform;
  image.layout = PixelLayout::kYuv420;
  image.orientation = planes.orientation;
  for (size_t i = 0; i < 3; ++i) {
    image.planes[i] = planes.planes[i];
    image.pitches[i] = planes.pitches[i];
  }
  return image;
}

}  // namespace

SlotPixels::SlotPixels(std::span<const SlotImage> images) {
  for (const SlotImage& image : images) {
    if (image.picture->is_on_gpu()) continue;
    const size_t known = IndexOf(&image.picture->pixels);
    if (known == copies_.size()) {
      copies_.push_back({&image.picture->pixels, image.part});
    } else {
      copies_[known].rect = Around(copies_[known].rect, image.part);
    }
  }
}

size_t SlotPixels::IndexOf(const Image* pixels) const {
  const auto found = std::find_if(copies_.begin(), copies_.end(),
                                  [&](const Copy& copy) { return copy.pixels == pixels; });
  return static_cast<size_t>(found - copies_.begin());
}

size_t SlotPixels::Aligned(size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

size_t SlotPixels::bytes() const {
  size_t bytes = 0;
  for (const Copy& copy : copies_) bytes += Aligned(copy.bytes());
  return bytes;
}

Status SlotPixels::Queue(uint8_t* there, const Stream& stream) {
  for (Copy& copy : copies_) {
    copy.there = there;
    const Status queued = copy.Queue(stream);
    if (!queued.ok()) return queued;
    there += Aligned(copy.bytes());
  }
  return {};
}

DeviceImage SlotPixels::Describe(const SlotImage& image) const {
  if (image.picture->is_on_gpu()) return DescribePlanes(image.picture->on_gpu, image.transform);
  const Copy& copy = copies_[IndexOf(&image.picture->pixels)];
  DeviceImage described = DescribeImage(copy.there, *copy.pixels, image.transform);
  if (!copy.is_rgb()) return described;
  described.pitches[0] = static_cast<int>(copy.row_bytes());
  described.planes[0] += static_cast<size_t>(image.part.top - copy.rect.top) * copy.row_bytes() +
                         size_t{3} * static_cast<size_t>(image.part.left - copy.rect.left);
  return described;
}

size_t SlotPixels::Copy::bytes() const {
  return is_rgb() ? row_bytes() * static_cast<size_t>(rect.height) : pixels->data.size();
}

Status SlotPixels::Copy::Queue(const Stream& stream) const {
  const PictureView from = PictureView(*pixels).Part(rect);
  const auto pitch = static_cast<size_t>(from.planes.pitches[0]);
  const bool in_one_piece = !is_rgb() || row_bytes() == pitch;
  const cudaError_t queued =
      in_one_piece
          ? cudaMemcpyAsync(there, from.bytes, bytes(), cudaMemcpyHostToDevice, stream.get())
          : cudaMemcpy2DAsync(there, row_bytes(), from.bytes, pitch, row_bytes(),
                              static_cast<size_t>(rect.height), cudaMemcpyHostToDevice,
                              stream.get());
  return ToStatus(queued, "copying an image to the GPU");
}

}  // namespace lattice
