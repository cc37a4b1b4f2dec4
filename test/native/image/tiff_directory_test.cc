#include "native/image/tiff_directory.h"

#include <gtest/gtest.h>

#include "test/native/image/encoded_samples.h"

namespace lattice {
namespace {

TEST(TiffDirectory, FindsNumbersOfTheFirstDirectory) {
  samples::TiffLayout layout;
  layout.orientation = 5;
  const samples::Bytes tiff = MakeTiff(layout, samples::Bytes{1, 2, 3});
  EXPECT_EQ(FirstDirectoryValue(tiff, kTiffOrientation), 5u);
  EXPECT_EQ(FirstDirectoryValue(tiff, kTiffCompression), 1u);
  EXPECT_EQ(FirstDirectoryValue(tiff, 256), 1u);
  EXPECT_EQ(FirstDirectoryValue(tiff, 9999), std::nullopt);
  // Three shorts do not fit the entry.
  EXPECT_EQ(FirstDirectoryValue(tiff, 258), std::nullopt);
}

TEST(TiffDirectory, EveryCutIsSafe) {
  const samples::Bytes tiff = samples::MakeTiff({}, samples::Bytes{1, 2, 3});
  for (size_t size = 0; size < 100; ++size) {
    const samples::Bytes cut(tiff.begin(), tiff.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_EQ(FirstDirectoryValue(cut, kTiffOrientation).has_value(), size >= 94) << size;
  }
  samples::Bytes far = tiff;
  far[4] = far[5] = far[6] = far[7] = 0xFF;
  EXPECT_EQ(FirstDirectoryValue(far, kTiffOrientation), std::nullopt);
}

}  // namespace
}  // namespace lattice
