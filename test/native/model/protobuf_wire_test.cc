#include "native/model/protobuf_wire.h"

#include <gtest/gtest.h>

#include <random>

namespace lattice {
namespace {

TEST(ProtobufWireTest, ReadsWhatItWrites) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    const auto number = static_cast<uint32_t>(1 + random() % 0x1fffffff);
    const uint64_t value = random() >> (random() % 64);
    const std::string text(random() % 300, static_cast<char>(random()));
    std::string out;
    AppendNumber(out, number, value);
    AppendBytes(out, number, text);
    WireReader reader(BytesOf(out));
    const auto first = reader.Next();
    ASSERT_TRUE(first && first->varint());
    EXPECT_EQ(first->number, number);
    EXPECT_EQ(first->value, value);
    const auto second = reader.Next();
    ASSERT_TRUE(second && second->delimited());
    EXPECT_EQ(TextOf(second->bytes), text);
    EXPECT_TRUE(reader.AtEnd());
    EXPECT_EQ(std::string(TextOf(first->whole)) + std::string(TextOf(second->whole)), out);
  }
}

TEST(ProtobufWireTest, ReadsFixedFields) {
  const std::string bytes("\x0d\x04\x03\x02\x01\x09\x08\x07\x06\x05\x04\x03\x02\x01", 14);
  WireReader reader(BytesOf(bytes));
  EXPECT_EQ(reader.Next()->value, 0x01020304u);
  EXPECT_EQ(reader.Next()->value, 0x0102030405060708u);
  EXPECT_TRUE(reader.AtEnd());
}

TEST(ProtobufWireTest, RefusesWhatBreaksTheFormat) {
  for (const std::string& bytes :
       {std::string("\x08", 1), std::string("\x0a\x05hell", 6), std::string("\x0b", 1),
        std::string("\x00\x00", 2), std::string("\x0d\x01\x02\x03", 4), std::string(11, '\xff'),
        std::string("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11)}) {
    EXPECT_FALSE(WireReader(BytesOf(bytes)).Next());
  }
}

}  // namespace
}  // namespace lattice
