#include "native/image/avif_properties.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <string_view>

#include "test/native/image/encoded_samples.h"

namespace lattice {
namespace {

using samples::Bytes;

constexpr uint8_t k420 = 0x0C;
constexpr uint8_t k422 = 0x08;
constexpr uint8_t k444 = 0x00;
constexpr uint8_t kGrey = 0x1C;
constexpr uint8_t kTenBits420 = 0x4C;
constexpr size_t kMediaBytes = 17;  // of the last box

Bytes Joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

void AppendNumber(uint64_t value, int count, Bytes* out) {
  for (int i = count - 1; i >= 0; --i) out->push_back(static_cast<uint8_t>(value >> (8 * i)));
}

Bytes Box(std::string_view type, const Bytes& content) {
  Bytes box;
  AppendNumber(content.size() + 8, 4, &box);
  box.insert(box.end(), type.begin(), type.end());
  return Joined({box, content});
}

Bytes Av1c(uint8_t layout) { return Box("av1C", {0x81, 0x00, layout, 0x00}); }

Bytes Nclx(int matrix, bool full_range) {
  Bytes content = {'n', 'c', 'l', 'x', 0, 1, 0, 13};
  AppendNumber(static_cast<uint64_t>(matrix), 2, &content);
  content.push_back(full_range ? 0x80 : 0x00);
  return Box("colr", content);
}

Bytes Avif(const Bytes& properties) {
  const Bytes meta = Joined({{0, 0, 0, 0},
                             Box("hdlr", Bytes(24)),
                             Box("iprp", Joined({Box("ipco", properties), Box("ipma", {0})}))});
  return Joined(
      {Box("ftyp", {'a', 'v', 'i', 'f'}), Box("meta", meta), Box("mdat", Bytes(kMediaBytes - 8))});
}

AvifProperties Parsed(std::initializer_list<Bytes> properties) {
  return ParseAvifProperties(Avif(Joined(properties)));
}

TEST(AvifProperties, AFileOfAnEncoder) {
  const AvifProperties found = ParseAvifProperties(samples::kAvif);
  EXPECT_TRUE(found.halved_chroma);
  EXPECT_TRUE(found.eight_bit);
  EXPECT_TRUE(found.full_range);
  EXPECT_FALSE(found.turned);
  EXPECT_FALSE(found.cropped);
  EXPECT_EQ(found.matrix, kMatrixBt601);
}

TEST(AvifProperties, ChromaIsHalvedWhenEveryColouredPictureSaysSo) {
  EXPECT_TRUE(Parsed({Av1c(k420)}).halved_chroma);
  EXPECT_TRUE(Parsed({Av1c(k420), Av1c(k420)}).halved_chroma);
  EXPECT_FALSE(Parsed({Av1c(k444)}).halved_chroma);
  EXPECT_FALSE(Parsed({Av1c(k422)}).halved_chroma);
  EXPECT_FALSE(Parsed({Av1c(k420), Av1c(k444)}).halved_chroma);
  EXPECT_FALSE(Parsed({Av1c(k444), Av1c(k420)}).halved_chroma);
  EXPECT_FALSE(Parsed({}).halved_chroma);
}

TEST(AvifProperties, GreyPicturesDoNotCount) {
  EXPECT_FALSE(Parsed({Av1c(kGrey)}).halved_chroma);
  EXPECT_TRUE(Parsed({Av1c(kGrey), Av1c(k420)}).halved_chroma);
  EXPECT_TRUE(Parsed({Av1c(k420), Av1c(kGrey)}).halved_chroma);
}

TEST(AvifProperties, DepthAndRange) {
  EXPECT_FALSE(Parsed({Av1c(kTenBits420)}).eight_bit);
  EXPECT_TRUE(Parsed({Av1c(kTenBits420)}).halved_chroma);
  EXPECT_TRUE(Parsed({Av1c(k420), Nclx(6, true)}).full_range);
  EXPECT_FALSE(Parsed({Av1c(k420), Nclx(6, false)}).full_range);
  EXPECT_FALSE(Parsed({Nclx(6, false), Nclx(6, true)}).full_range);
}

TEST(AvifProperties, MatrixIsTheOneThatAllName) {
  EXPECT_EQ(Parsed({Av1c(k420)}).matrix, kMatrixUnspecified);
  EXPECT_EQ(Parsed({Box("colr", Joined({{'p', 'r', 'o', 'f'}, Bytes(40)}))}).matrix,
            kMatrixUnspecified);
  EXPECT_EQ(Parsed({Nclx(1, true)}).matrix, kMatrixBt709);
  EXPECT_EQ(Parsed({Nclx(0x0109, true)}).matrix, 0x0109);
  EXPECT_EQ(Parsed({Nclx(6, true), Nclx(6, true)}).matrix, kMatrixBt601);
  EXPECT_EQ(Parsed({Nclx(6, true), Nclx(1, true)}).matrix, std::nullopt);
  EXPECT_EQ(Parsed({Nclx(6, true), Nclx(1, true), Nclx(6, true)}).matrix, std::nullopt);
}

TEST(AvifProperties, Transformations) {
  EXPECT_TRUE(Parsed({Av1c(k420), Box("irot", {1})}).turned);
  EXPECT_TRUE(Parsed({Box("imir", {0}), Av1c(k420)}).turned);
  EXPECT_TRUE(Parsed({Av1c(k420), Box("clap", Bytes(32))}).cropped);
}

TEST(AvifProperties, SizesOfSixtyFourBitsAndToTheEnd) {
  Bytes wide;
  AppendNumber(1, 4, &wide);
  wide = Joined({wide, {'f', 'r', 'e', 'e'}});
  AppendNumber(20, 8, &wide);
  wide.resize(20);
  Bytes last = Av1c(k420);
  last[3] = 0;
  EXPECT_TRUE(Parsed({wide, last}).halved_chroma);
}

TEST(AvifProperties, WhatFollowsADamagedBoxIsLeftOut) {
  for (const uint64_t size : {2u, 7u, 0x7FFFFFFFu, 0xFFFFFFFFu}) {
    Bytes broken;
    AppendNumber(size, 4, &broken);
    broken = Joined({broken, {'f', 'r', 'e', 'e'}});
    EXPECT_FALSE(Parsed({broken, Av1c(k420)}).halved_chroma) << size;
    EXPECT_TRUE(Parsed({Av1c(k420), broken}).halved_chroma) << size;
  }
  Bytes endless;
  AppendNumber(1, 4, &endless);
  endless = Joined({endless, {'f', 'r', 'e', 'e'}, Bytes(8, 0xFF)});
  EXPECT_FALSE(Parsed({endless, Av1c(k420)}).halved_chroma);
  EXPECT_FALSE(Parsed({Box("av1C", {0x81, 0x00})}).halved_chroma);
  EXPECT_EQ(Parsed({Box("colr", {'n', 'c', 'l', 'x', 0, 1, 0, 13, 0, 1})}).matrix,
            kMatrixUnspecified);
}

// Each copy has its own memory of just its size, so that a sanitizer sees the first byte too far.
TEST(AvifProperties, EveryCutAndEveryDamagedByteIsSafe) {
  const Bytes whole = Avif(Joined({Av1c(k420), Nclx(1, true), Box("irot", {1})}));
  for (size_t size = 0; size <= whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_EQ(ParseAvifProperties(cut).halved_chroma, size >= whole.size() - kMediaBytes) << size;
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const uint8_t value : {0x00, 0x01, 0x08, 0x7F, 0xFF}) {
      Bytes damaged = whole;
      damaged[at] = value;
      damaged.shrink_to_fit();
      const AvifProperties found = ParseAvifProperties(damaged);
      EXPECT_LE(found.matrix.value_or(0), 0xFFFF);
    }
  }
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    Bytes damaged = whole;
    for (int i = 0; i < 4; ++i) damaged[random() % whole.size()] = static_cast<uint8_t>(random());
    EXPECT_LE(ParseAvifProperties(damaged).matrix.value_or(0), 0xFFFF);
  }
}

}  // namespace
}  // namespace lattice
