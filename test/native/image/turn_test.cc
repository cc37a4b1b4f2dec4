#include "native/image/turn.h"

#include <gtest/gtest.h>

#include "native/image/orientation.h"

namespace lattice {
namespace {

TEST(Turn, FindsThePixelsThatOrientedMoves) {
  Image stored{5, 3, {}};
  for (uint8_t i = 0; i < 15; ++i) stored.data.insert(stored.data.end(), 3, i);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Image shown = Oriented(stored, orientation);
    const Turn turn = Turn::Of(orientation);
    for (int y = 0; y < shown.height; ++y) {
      for (int x = 0; x < shown.width; ++x) {
        const StoredPoint at = turn.At(x, y, shown.width, shown.height);
        ASSERT_EQ(shown.data[static_cast<size_t>(3 * (y * shown.width + x))], at.y * 5 + at.x)
            << orientation << ": " << x << ", " << y;
      }
    }
  }
}

TEST(Oriented, PlanesAreMarkedOnly) {
  Image planes{6, 4, {}, PixelLayout::kYuv420};
  planes.data.assign(36, 7);
  const Image turned = Oriented(planes, 6);
  EXPECT_EQ(turned.data, planes.data);
  EXPECT_EQ(turned.orientation, 6);
  EXPECT_EQ(turned.width, 4);
  EXPECT_EQ(turned.height, 6);
  EXPECT_EQ(StoredPlanes(turned).pitches[0], 6);
  EXPECT_EQ(Oriented(planes, 3).width, 6);
  EXPECT_EQ(Oriented(planes, 0).orientation, 1);
}

}  // namespace
}  // namespace lattice
