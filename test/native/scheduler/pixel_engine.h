// The base of engines of tests: takes every image as RGB.
#ifndef LATTICE_TEST_SCHEDULER_PIXEL_ENGINE_H_
#define LATTICE_TEST_SCHEDULER_PIXEL_ENGINE_H_

#include <memory>
#include <memory_resource>
#include <span>
#include <utility>

#include "native/engine/engine.h"

namespace lattice::test {

class PixelEngine : public Engine {
 public:
  size_t ExpectedBytes(const EncodedImage& encoded, const DecodeLimits& limits) const override {
    return ExpectedPixelBytes(encoded, limits, PixelLayout::kRgb);
  }
  Result<std::unique_ptr<EngineInput>> Take(const EncodedImage& encoded,
                                            const DecodeLimits& limits) override {
    auto image = Decode(encoded.bytes, limits);
    if (!image.ok()) return image.status();
    const Rect whole{0, 0, image->width, image->height};
    auto inputs = Take(*std::move(image), {&whole, 1});
    if (!inputs.ok()) return inputs.status();
    return std::move((*inputs)[0]);
  }
  Result<EngineInputs> Take(Image picture, std::span<const Rect> parts) override {
    EngineInputs inputs;
    for (const Rect& part : parts) {
      auto input = Take(PictureView(picture).Part(part));
      if (!input.ok()) return input.status();
      inputs.push_back(*std::move(input));
    }
    return inputs;
  }
  virtual Result<std::unique_ptr<EngineInput>> Take(const PictureView& pixels) = 0;
  std::pmr::memory_resource& pixel_memory() override { return *std::pmr::get_default_resource(); }
};

}  // namespace lattice::test

#endif  // LATTICE_TEST_SCHEDULER_PIXEL_ENGINE_H_
