#include "native/image/image_format.h"

#include <gtest/gtest.h>

#include <string>

#include "test/native/image/encoded_samples.h"

namespace lattice {
namespace {

SniffedFormat Sniffed(std::string_view text) {
  const samples::Bytes bytes(text.begin(), text.end());
  return SniffFormat(bytes);
}

std::string Ftyp(std::string_view major, std::string_view compatible) {
  std::string box("\0\0\0\0ftyp", 8);
  box += std::string(major) + std::string(4, '\0') + std::string(compatible);
  box[3] = static_cast<char>(box.size());
  return box + "mdat avif";
}

TEST(ImageFormat, KnowsTheSupportedOnes) {
  EXPECT_EQ(SniffFormat(samples::kJpeg).format, ImageFormat::kJpeg);
  EXPECT_EQ(Sniffed("\xFF\xD8").format, ImageFormat::kJpeg);
  EXPECT_EQ(SniffFormat(samples::MakeBmp({}, samples::Bytes{1, 2, 3, 0})).format,
            ImageFormat::kBmp);
  EXPECT_EQ(SniffFormat(samples::kWebp).format, ImageFormat::kWebp);
  EXPECT_EQ(SniffFormat(samples::kAvif).format, ImageFormat::kAvif);
  EXPECT_EQ(SniffFormat(samples::MakePng({}, samples::Bytes{1, 2, 3})).format, ImageFormat::kPng);
  EXPECT_EQ(SniffFormat(samples::MakeTiff({}, samples::Bytes{1, 2, 3})).format, ImageFormat::kTiff);
  EXPECT_EQ(Sniffed(std::string_view("MM\0*\0\0\0\x08", 8)).format, ImageFormat::kTiff);
}

TEST(ImageFormat, TellsAvifFromItsRelativesByBrand) {
  EXPECT_EQ(Sniffed(Ftyp("avif", "mif1")).format, ImageFormat::kAvif);
  EXPECT_EQ(Sniffed(Ftyp("mif1", "miafavif")).format, ImageFormat::kAvif);
  EXPECT_EQ(Sniffed(Ftyp("heic", "mif1heic")).name, "HEIC");
  EXPECT_EQ(Sniffed(Ftyp("isom", "mp41")).name, "MP4 video");
}

TEST(ImageFormat, NamesTheOthers) {
  EXPECT_EQ(Sniffed("GIF87a").name, "GIF");
  EXPECT_EQ(Sniffed(std::string_view("\0\0\0\x0CjP  \r\n\x87\n", 12)).name, "JPEG 2000");
  EXPECT_EQ(Sniffed("RIFF\1\1\1\1WAVE").name, "unknown data");
  EXPECT_EQ(Sniffed("P6 3 3 255 ").name, "PNM");
  EXPECT_EQ(Sniffed("\xEF\xBB\xBF<svg>").name, "SVG");
  EXPECT_EQ(Sniffed("  <!DOCTYPE HTML><p>").name, "HTML");
  EXPECT_EQ(Sniffed("plain words").name, "text");
  EXPECT_EQ(Sniffed("BM as in the first words of a text").name, "text");
  EXPECT_EQ(Sniffed("").name, "unknown data");
  EXPECT_EQ(Sniffed("\x01\x02").format, ImageFormat::kUnsupported);
}

TEST(ImageFormat, AFileNameIsNoFormat) {
  EXPECT_EQ(Sniffed("photo.jpg").format, ImageFormat::kUnsupported);
}

}  // namespace
}  // namespace lattice
