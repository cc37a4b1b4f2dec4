// The base of engines of tests: takes every image as RGB.
#ifndef LATTICE_TEST_SCHEDULER_PIXEL_ENGINE_H_
#define LATTICE_TEST_SCHEDULER_PIXEL_ENGINE_H_

#include <memory>
#include <memory_resource>

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
    return Take(*image);
  }
  Result<std::unique_ptr<EngineInput>> Take(const PictureView& pixels) override = 0;
  std::pmr::memory_resource& pixel_memory() override { return *std::pmr::get_default_resource(); }
};

}  // namespace lattice::test

#endif  // LATTICE_TEST_SCHEDULER_PIXEL_ENGINE_H_
