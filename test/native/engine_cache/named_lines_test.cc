#include "native/engine_cache/named_lines.h"

#include <gtest/gtest.h>

#include <random>

namespace lattice {
namespace {

TEST(NamedLinesTest, AnyBytesComeBack) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    std::string value(random() % 40, '\0');
    for (char& byte : value) byte = static_cast<char>(random());
    std::string text;
    AppendLine("first", value, &text);
    AppendLine("second", int64_t{-7}, &text);
    NamedLines lines(text);
    EXPECT_EQ(lines.Take("first"), value);
    EXPECT_EQ(lines.TakeNumber("second"), -7);
    EXPECT_TRUE(lines.ok());
    EXPECT_EQ(lines.rest(), "");
  }
}

TEST(NamedLinesTest, ALineBreakInAValueMakesNoLine) {
  std::string text;
  AppendLine("name", "a\nb\\c", &text);
  EXPECT_EQ(text, "name=a\\x0ab\\x5cc\n");
}

TEST(NamedLinesTest, WhatIsNotExpectedEndsTheReading) {
  for (const char* text : {"", "name", "name=a", "nam=a\n", "names=a\n", "name=\\x0\n",
                           "name=\\y00\n", "name=\\x0g\n", "other=1\nname=a\n"}) {
    NamedLines lines(text);
    EXPECT_EQ(lines.Take("name"), "") << text;
    EXPECT_FALSE(lines.ok()) << text;
  }
  NamedLines lines("name=a\nnumber=1x\nlast=b\n");
  EXPECT_EQ(lines.Take("name"), "a");
  EXPECT_EQ(lines.TakeNumber("number"), 0);
  EXPECT_EQ(lines.Take("last"), "");
  EXPECT_FALSE(lines.ok());
}

}  // namespace
}  // namespace lattice
