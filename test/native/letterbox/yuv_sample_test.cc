#include "native/letterbox/yuv_sample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

#include "native/image/decode.h"
#include "test/native/image/encoded_samples.h"

#ifdef LATTICE_WITH_TURBOJPEG
#include <turbojpeg.h>
#endif

namespace lattice {
namespace {

// The planes of samples::kJpeg (24 x 16, 4:2:0), as libjpeg-turbo 2.1 gives them by
// tjDecompressToYUVPlanes.
constexpr uint8_t kLuma[] = {
    0,   2,   7,   11,  14,  18,  22,  25,  29,  32,  36,  40,  43,  47,  51,  54,  58,  61,  65,
    69,  73,  76,  81,  83,  10,  13,  17,  21,  25,  29,  33,  36,  39,  42,  46,  50,  54,  58,
    62,  65,  69,  72,  76,  80,  83,  87,  91,  94,  19,  22,  26,  30,  34,  37,  42,  45,  48,
    51,  55,  59,  63,  67,  71,  74,  78,  81,  85,  89,  92,  96,  100, 103, 28,  31,  35,  39,
    42,  46,  50,  53,  57,  60,  64,  68,  72,  75,  80,  82,  86,  89,  93,  97,  101, 105, 109,
    112, 39,  42,  46,  50,  54,  58,  62,  65,  69,  71,  76,  79,  83,  87,  91,  94,  98,  101,
    105, 109, 112, 116, 120, 123, 48,  51,  55,  59,  62,  66,  70,  73,  77,  80,  84,  88,  92,
    96,  100, 103, 106, 109, 114, 117, 121, 125, 129, 132, 57,  60,  64,  68,  71,  75,  79,  82,
    86,  89,  93,  97,  101, 105, 109, 112, 115, 118, 122, 126, 130, 134, 138, 141, 68,  70,  75,
    78,  82,  86,  90,  93,  97,  100, 104, 108, 111, 115, 119, 122, 126, 129, 133, 137, 140, 144,
    149, 151, 75,  78,  82,  86,  90,  94,  98,  101, 105, 107, 112, 116, 119, 123, 127, 130, 134,
    137, 141, 145, 148, 152, 156, 159, 86,  89,  93,  97,  100, 104, 108, 111, 115, 118, 122, 126,
    130, 134, 138, 141, 144, 147, 151, 155, 159, 163, 167, 170, 95,  98,  102, 106, 109, 113, 117,
    120, 124, 127, 131, 135, 139, 142, 147, 150, 153, 156, 160, 164, 168, 172, 176, 179, 104, 106,
    111, 114, 118, 122, 126, 129, 133, 136, 140, 144, 147, 151, 155, 158, 162, 165, 169, 173, 177,
    180, 185, 187, 115, 118, 122, 126, 130, 133, 138, 140, 144, 147, 151, 155, 159, 163, 167, 170,
    174, 176, 181, 184, 188, 192, 196, 199, 124, 127, 131, 135, 138, 142, 146, 149, 153, 156, 160,
    164, 167, 171, 175, 178, 182, 185, 189, 193, 197, 201, 205, 208, 133, 136, 140, 144, 147, 151,
    155, 158, 162, 165, 169, 173, 176, 180, 184, 187, 191, 194, 198, 202, 206, 210, 214, 217, 143,
    146, 150, 154, 158, 162, 166, 169, 173, 175, 180, 183, 187, 191, 195, 198, 202, 205, 209, 213,
    216, 220, 224, 227};
constexpr uint8_t kCb[] = {126, 128, 130, 133, 137, 140, 142, 143, 148, 149, 152, 154, 125, 126,
                           128, 131, 135, 138, 140, 142, 146, 148, 150, 152, 121, 122, 125, 128,
                           131, 134, 137, 138, 143, 144, 147, 149, 117, 118, 120, 123, 127, 130,
                           132, 134, 138, 140, 142, 144, 112, 113, 116, 119, 122, 125, 128, 129,
                           133, 135, 137, 140, 107, 109, 111, 114, 118, 121, 123, 124, 129, 130,
                           133, 135, 104, 105, 108, 111, 114, 117, 120, 121, 126, 127, 129, 132,
                           102, 103, 106, 109, 112, 115, 118, 119, 124, 125, 128, 130};
constexpr uint8_t kCr[] = {125, 133, 143, 153, 161, 170, 181, 189, 196, 205, 217, 225, 115, 123,
                           134, 143, 151, 160, 171, 179, 186, 195, 207, 215, 100, 108, 119, 128,
                           136, 145, 156, 164, 172, 181, 193, 200, 86,  94,  105, 114, 122, 131,
                           142, 150, 157, 167, 179, 186, 73,  81,  92,  101, 109, 118, 129, 137,
                           144, 154, 165, 173, 59,  67,  77,  87,  95,  104, 115, 123, 130, 139,
                           151, 158, 44,  52,  63,  72,  80,  89,  100, 108, 115, 125, 137, 144,
                           34,  42,  53,  62,  70,  79,  90,  98,  106, 115, 127, 134};

ByteBuffer RgbOfPlanes(const uint8_t* const planes[3], const int pitches[3], int width,
                       int height) {
  ByteBuffer rgb;
  for (int y = 0; y < height; ++y) {
    const YuvRow row = YuvRowAt(planes, pitches, width, height, y);
    for (int x = 0; x < width; ++x) {
      const RgbLevels pixel = row.At(x);
      for (const int level : {pixel.red, pixel.green, pixel.blue}) {
        rgb.push_back(static_cast<uint8_t>(level));
      }
    }
  }
  return rgb;
}

TEST(RgbOf, FollowsJfif) {
  for (int luma = 0; luma < 256; ++luma) {
    const RgbLevels grey = RgbOf(luma, 128, 128);
    EXPECT_EQ(grey.red, luma);
    EXPECT_EQ(grey.green, luma);
    EXPECT_EQ(grey.blue, luma);
  }
  const auto nearest = [](double level) {
    return static_cast<int>(std::lround(std::fmin(std::fmax(level, 0), 255)));
  };
  for (int luma = 0; luma < 256; luma += 5) {
    for (int cb = 0; cb < 256; cb += 5) {
      for (int cr = 0; cr < 256; cr += 5) {
        const RgbLevels pixel = RgbOf(luma, cb, cr);
        const double u = cb - 128;
        const double v = cr - 128;
        ASSERT_LE(std::abs(pixel.red - nearest(luma + 1.402 * v)), 1);
        ASSERT_LE(std::abs(pixel.green - nearest(luma - 0.344136 * u - 0.714136 * v)), 1);
        ASSERT_LE(std::abs(pixel.blue - nearest(luma + 1.772 * u)), 1);
      }
    }
  }
}

TEST(YuvRow, IsWhatTheDecoderMakesOfAJpeg) {
  ASSERT_TRUE(InitDecoders().ok());
  const Result<Image> decoded = Decode(samples::kJpeg, {});
  ASSERT_TRUE(decoded.ok());
  const uint8_t* const planes[3] = {kLuma, kCb, kCr};
  const int pitches[3] = {24, 12, 12};
  EXPECT_EQ(RgbOfPlanes(planes, pitches, 24, 16), decoded->data);
}

#ifdef LATTICE_WITH_TURBOJPEG

struct EncodedJpeg {
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int)
  ~EncodedJpeg() { tjFree(bytes); }
};

void ExpectTheDecodersPixels(tjhandle encoder, tjhandle decoder, int width, int height,
                             std::mt19937& random) {
  std::vector<uint8_t> noise(static_cast<size_t>(3 * width * height));
  for (uint8_t& level : noise) level = static_cast<uint8_t>(random());
  EncodedJpeg jpeg;
  ASSERT_EQ(tjCompress2(encoder, noise.data(), width, 0, height, TJPF_RGB, &jpeg.bytes, &jpeg.size,
                        TJSAMP_420, static_cast<int>(50 + random() % 50), 0),
            0);
  std::vector<uint8_t> storage[3];
  unsigned char* planes[3];
  int pitches[3];
  for (int plane = 0; plane < 3; ++plane) {
    pitches[plane] = tjPlaneWidth(plane, width, TJSAMP_420);
    storage[plane].resize(static_cast<size_t>(pitches[plane]) *
                          static_cast<size_t>(tjPlaneHeight(plane, height, TJSAMP_420)));
    planes[plane] = storage[plane].data();
  }
  ASSERT_EQ(tjDecompressToYUVPlanes(decoder, jpeg.bytes, jpeg.size, planes, width, pitches, height,
                                    TJFLAG_ACCURATEDCT),
            0);
  const Result<Image> decoded = Decode({jpeg.bytes, jpeg.size}, {});
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(RgbOfPlanes(planes, pitches, width, height), decoded->data) << width << " x " << height;
}

TEST(YuvRow, IsWhatTheDecoderMakesOfEverySize) {
  ASSERT_TRUE(InitDecoders().ok());
  const tjhandle encoder = tjInitCompress();
  const tjhandle decoder = tjInitDecompress();
  std::mt19937 random(1);
  for (int width = 1; width <= 36; ++width) {
    for (int height = 1; height <= 36; ++height) {
      ExpectTheDecodersPixels(encoder, decoder, width, height, random);
    }
  }
  for (int round = 0; round < 20; ++round) {
    const auto side = [&] { return static_cast<int>(1 + random() % 500); };
    ExpectTheDecodersPixels(encoder, decoder, side(), side(), random);
  }
  tjDestroy(encoder);
  tjDestroy(decoder);
}

#else

TEST(YuvRow, IsWhatTheDecoderMakesOfEverySize) {
  GTEST_SKIP() << "libjpeg-turbo is missing, which makes the JPEGs (libturbojpeg0-dev)";
}

#endif

}  // namespace
}  // namespace lattice
