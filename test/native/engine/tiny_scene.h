// Pictures that the tiny model of models/tiny knows, and its answers.
#ifndef LATTICE_TEST_ENGINE_TINY_SCENE_H_
#define LATTICE_TEST_ENGINE_TINY_SCENE_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "native/engine/engine.h"

namespace lattice {

// Red cars and yellow motorcycles as the tiny model knows them, on grey. Its boxes lie on a grid of
// 8 pixels, and 640 x 480 needs no scaling.
inline Image Scene(unsigned seed, int width = 640, int height = 480) {
  struct Rectangle {
    int width, height;
    uint8_t colour[3];
  };
  constexpr Rectangle kKinds[] = {{96, 64, {220, 40, 40}}, {48, 48, {230, 210, 40}}};
  std::mt19937 random(seed);
  Image image;
  image.width = width;
  image.height = height;
  image.data.assign(static_cast<size_t>(3 * width * height), 128);
  for (int place = 0; place < 4; ++place) {
    const Rectangle& kind = kKinds[random() % 2];
    const int left = 60 + 300 * (place % 2) + 8 * static_cast<int>(random() % 16);
    const int top = 60 + 200 * (place / 2) + 8 * static_cast<int>(random() % 8);
    for (int y = top; y < std::min(height, top + kind.height); ++y) {
      for (int x = left; x < std::min(width, left + kind.width); ++x) {
        std::copy_n(kind.colour, 3, &image.data[static_cast<size_t>(3 * (y * width + x))]);
      }
    }
  }
  return image;
}

// As one image.
inline Result<std::unique_ptr<EngineInput>> TakeWhole(Engine& engine, Image picture) {
  const Rect whole{0, 0, picture.width, picture.height};
  auto inputs = engine.Take(std::move(picture), {&whole, 1});
  if (!inputs.ok()) return inputs.status();
  return std::move((*inputs)[0]);
}

using Boxes = std::vector<std::vector<float>>;

inline Boxes RowsOf(const Detections& detections) {
  Boxes rows;
  for (const Detection& d : detections.boxes) {
    rows.push_back({d.x1, d.y1, d.x2, d.y2, d.score, d.class_id});
  }
  return rows;
}

}  // namespace lattice

#endif  // LATTICE_TEST_ENGINE_TINY_SCENE_H_
