#include "native/image/tiff_directory.h"

#include <gtest/gtest.h>

#include <bit>

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
  // Three shorts do not fit the entry and lie elsewhere.
  EXPECT_EQ(FirstDirectoryValue(tiff, 258), 8u);
}

TEST(TiffDirectory, FindsNumbersOfEveryType) {
  samples::TiffLayout layout;
  layout.more = {{340, 11, std::bit_cast<uint32_t>(-0.5f)}, {341, 9, 0xFFFFFFFF}, {342, 1, 200}};
  const samples::Bytes tiff = MakeTiff(layout, samples::Bytes{1, 2, 3});
  EXPECT_EQ(FirstDirectoryNumber(tiff, 340), -0.5);
  EXPECT_EQ(FirstDirectoryNumber(tiff, 341), -1);
  EXPECT_EQ(FirstDirectoryNumber(tiff, 342), 200);
  EXPECT_EQ(FirstDirectoryNumber(tiff, kTiffCompression), 1);
  EXPECT_EQ(FirstDirectoryNumber(tiff, 343), std::nullopt);
  EXPECT_EQ(FirstDirectoryValue(tiff, 340), std::nullopt);
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
