#include "native/image/picture_position.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <utility>

#include "test/native/image/encoded_samples.h"

namespace lattice {
namespace {

using samples::Bytes;

using Fractions = std::array<std::pair<uint32_t, uint32_t>, 3>;

// The Siegessaeule in Berlin.
struct Gps {
  bool little = true;
  const char* latitude_ref = "N";  // null for none
  Fractions latitude = {{{52, 1}, {30, 1}, {5206, 100}}};
  const char* longitude_ref = "E";
  Fractions longitude = {{{13, 1}, {21, 1}, {10, 3}}};
  uint16_t type = 5;
  uint32_t count = 3;
};

class Writer {
 public:
  explicit Writer(bool little) : little_(little) {}
  Writer& Put(uint32_t value, int size) {
    for (int i = 0; i < size; ++i) {
      const int shift = 8 * (little_ ? i : size - 1 - i);
      bytes.push_back(static_cast<uint8_t>(value >> shift));
    }
    return *this;
  }
  void Entry(uint16_t tag, uint16_t type, uint32_t count, uint32_t value) {
    Put(tag, 2).Put(type, 2).Put(count, 4).Put(value, 4);
  }
  void Letter(uint16_t tag, const char* letter) {
    Put(tag, 2).Put(2, 2).Put(2, 4);
    bytes.insert(bytes.end(), {static_cast<uint8_t>(*letter), 0, 0, 0});
  }
  Bytes bytes;

 private:
  bool little_;
};

constexpr uint32_t kGpsAt = 8 + 2 + 12 + 4;

Bytes ExifOf(const Gps& gps) {
  Writer out(gps.little);
  out.bytes = gps.little ? Bytes{'I', 'I'} : Bytes{'M', 'M'};
  out.Put(42, 2).Put(8, 4).Put(1, 2);
  out.Entry(0x8825, 4, 1, kGpsAt);
  out.Put(0, 4);
  const uint16_t entries = 2 + (gps.latitude_ref ? 1 : 0) + (gps.longitude_ref ? 1 : 0);
  const uint32_t numbers_at = kGpsAt + 2 + 12u * entries + 4;
  out.Put(entries, 2);
  if (gps.latitude_ref) out.Letter(1, gps.latitude_ref);
  out.Entry(2, gps.type, gps.count, numbers_at);
  if (gps.longitude_ref) out.Letter(3, gps.longitude_ref);
  out.Entry(4, gps.type, gps.count, numbers_at + 24);
  out.Put(0, 4);
  for (const Fractions& angle : {gps.latitude, gps.longitude}) {
    for (const auto& [above, below] : angle) out.Put(above, 4).Put(below, 4);
  }
  return out.bytes;
}

std::optional<PicturePosition> Of(const std::function<void(Gps&)>& change) {
  Gps gps;
  change(gps);
  return PositionOfExif(ExifOf(gps));
}

std::optional<PicturePosition> InJpeg(const Bytes& exif) {
  const Bytes jpeg = samples::WithExif(samples::kJpeg, exif);
  return ReadPosition(DescribeEncoded(jpeg));
}

void ExpectBerlin(const std::optional<PicturePosition>& position) {
  ASSERT_TRUE(position);
  EXPECT_NEAR(position->latitude, 52.514461, 1e-6);
  EXPECT_NEAR(position->longitude, 13.350926, 1e-6);
}

TEST(PicturePosition, ReadsBothByteOrders) {
  ExpectBerlin(Of([](Gps&) {}));
  ExpectBerlin(Of([](Gps& gps) { gps.little = false; }));
}

TEST(PicturePosition, SouthAndWestAreNegative) {
  const auto position = Of([](Gps& gps) {
    gps.latitude_ref = "S";
    gps.longitude_ref = "W";
  });
  ASSERT_TRUE(position);
  EXPECT_NEAR(position->latitude, -52.514461, 1e-6);
  EXPECT_NEAR(position->longitude, -13.350926, 1e-6);
}

TEST(PicturePosition, ReadsJpegPngWebpAndTiff) {
  const Bytes exif = ExifOf({});
  ExpectBerlin(InJpeg(exif));
  ExpectBerlin(ReadPosition(DescribeEncoded(exif)));

  const auto length = static_cast<uint8_t>(exif.size());
  Bytes png = samples::MakePng({}, Bytes{1, 2, 3});
  Bytes chunk = {0, 0, 0, length, 'e', 'X', 'I', 'f'};
  chunk.insert(chunk.end(), exif.begin(), exif.end());
  chunk.insert(chunk.end(), 4, 0);
  constexpr ptrdiff_t kBehindHeader = 8 + 25;
  png.insert(png.begin() + kBehindHeader, chunk.begin(), chunk.end());
  ExpectBerlin(ReadPosition(DescribeEncoded(png)));

  Bytes webp = {'R', 'I', 'F', 'F', 0, 0, 0, 0, 'W', 'E', 'B', 'P',  //
                'V', 'P', '8', ' ', 3, 0, 0, 0, 1,   2,   3,   0,    //
                'E', 'X', 'I', 'F'};
  webp.insert(webp.end(), {static_cast<uint8_t>(length + 6), 0, 0, 0});
  webp.insert(webp.end(), {'E', 'x', 'i', 'f', 0, 0});
  webp.insert(webp.end(), exif.begin(), exif.end());
  ExpectBerlin(ReadPosition(DescribeEncoded(webp)));

  EXPECT_FALSE(ReadPosition(DescribeEncoded(samples::kJpeg)));
  EXPECT_FALSE(ReadPosition(DescribeEncoded(samples::MakeTiff({}, Bytes{1, 2, 3}))));
}

TEST(PicturePosition, HasNoneWithoutAWholeOne) {
  const Fractions none = {{{0, 1}, {0, 1}, {0, 1}}};
  EXPECT_FALSE(Of([](Gps& gps) { gps.latitude_ref = nullptr; }));
  EXPECT_FALSE(Of([](Gps& gps) { gps.longitude_ref = nullptr; }));
  EXPECT_FALSE(Of([](Gps& gps) { gps.latitude_ref = "E"; }));
  EXPECT_FALSE(Of([](Gps& gps) { gps.longitude_ref = "\0"; }));
  EXPECT_FALSE(Of([](Gps& gps) { gps.latitude[0] = {0, 0}; }));
  EXPECT_FALSE(Of([](Gps& gps) { gps.longitude[2] = {7, 0}; }));
  EXPECT_FALSE(Of([](Gps& gps) { gps.latitude[0] = {91, 1}; }));
  EXPECT_FALSE(Of([](Gps& gps) { gps.latitude = {{{90, 1}, {0, 1}, {1, 100}}}; }));
  EXPECT_FALSE(Of([](Gps& gps) { gps.longitude[0] = {181, 1}; }));
  EXPECT_FALSE(Of([](Gps& gps) { gps.latitude[1] = {61, 1}; }));
  EXPECT_FALSE(Of([](Gps& gps) { gps.longitude[0] = {0xFFFFFFFF, 1}; }));
  EXPECT_FALSE(Of([](Gps& gps) { gps.type = 3; }));
  EXPECT_FALSE(Of([](Gps& gps) { gps.count = 1; }));
  EXPECT_FALSE(Of([](Gps& gps) { gps.count = 0; }));
  // A camera that has no position yet.
  EXPECT_FALSE(Of([&](Gps& gps) { gps.latitude = gps.longitude = none; }));
  EXPECT_TRUE(Of([&](Gps& gps) { gps.latitude = none; }));
  EXPECT_TRUE(Of([](Gps& gps) { gps.latitude = {{{89, 1}, {59, 1}, {60, 1}}}; }));
}

TEST(PicturePosition, EveryCutAndEveryDamagedByteIsSafe) {
  const Bytes exif = ExifOf({});
  for (size_t size = 0; size < exif.size(); ++size) {
    // A copy of its own, so that a read past the end is seen by the sanitizer.
    const Bytes cut(exif.begin(), exif.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(PositionOfExif(cut)) << size;
    EXPECT_FALSE(InJpeg(cut)) << size;
  }
  for (size_t at = 0; at < exif.size(); ++at) {
    for (const int value : {0x00, 0x01, 0x7F, 0x80, 0xFF}) {
      Bytes damaged = exif;
      damaged[at] = static_cast<uint8_t>(value);
      const auto position = PositionOfExif(damaged);
      if (!position) continue;
      EXPECT_TRUE(position->latitude >= -90 && position->latitude <= 90) << at;
      EXPECT_TRUE(position->longitude >= -180 && position->longitude <= 180) << at;
    }
  }
}

}  // namespace
}  // namespace lattice
