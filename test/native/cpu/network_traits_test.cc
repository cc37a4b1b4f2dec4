#include "native/cpu/network_traits.h"

#include <gtest/gtest.h>

#include <climits>
#include <cstring>

namespace lattice {
namespace {

constexpr size_t kClasses = 4;

NetworkTraits Cut() {
  NetworkTraits traits;
  traits.input_width = 640;
  traits.input_height = 480;
  traits.head = {HeadLayout::kScales, kClasses, 16, {8, 16, 32}, true};
  traits.any_rectangle = true;
  traits.only_f32 = true;
  traits.quantization = Quantization::kUnsigned;
  traits.byte_input = true;
  return traits;
}

TEST(NetworkTraitsTest, ComeBackAsTheyWereStored) {
  const std::vector<char> bytes = BytesOf(Cut());
  ASSERT_EQ(bytes.size(), kTraitsBytes);
  const auto read = ReadTraits(bytes, kClasses);
  ASSERT_TRUE(read);
  EXPECT_EQ(BytesOf(*read), bytes);
  EXPECT_EQ(read->input_width, 640);
  EXPECT_EQ(read->input_height, 480);
  EXPECT_EQ(read->head.strides[2], 32);
  EXPECT_TRUE(read->head.one_to_one);
  EXPECT_TRUE(read->byte_input);
}

TEST(NetworkTraitsTest, OfAnotherLengthOrAnotherModelAreNone) {
  const std::vector<char> bytes = BytesOf(Cut());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ReadTraits(std::span(bytes).first(size), kClasses)) << size;
  }
  EXPECT_FALSE(ReadTraits(bytes, kClasses + 1));
}

// The numbers that are read are within their bounds, whatever the file has: every number is set to
// odd values.
TEST(NetworkTraitsTest, NumbersBeyondTheirBoundsAreNone) {
  const std::vector<char> bytes = BytesOf(Cut());
  for (size_t at = 0; at < bytes.size(); at += sizeof(int)) {
    for (const int value : {INT_MIN, -1, 0, 1, 3, 4'000'000, INT_MAX}) {
      std::vector<char> odd = bytes;
      std::memcpy(&odd[at], &value, sizeof(value));
      const auto read = ReadTraits(odd, kClasses);
      EXPECT_FALSE(read && value < 0) << at;
      if (!read) continue;
      EXPECT_EQ(BytesOf(*read), odd) << at;
      EXPECT_EQ(read->head.classes, static_cast<int>(kClasses));
      EXPECT_LE(read->head.layout, HeadLayout::kFinal);
      EXPECT_LE(read->quantization, Quantization::kSigned);
      for (const int stride : read->head.strides) {
        EXPECT_GE(stride, 1);
        EXPECT_EQ(read->input_width % stride, 0);
      }
    }
  }
}

}  // namespace
}  // namespace lattice
