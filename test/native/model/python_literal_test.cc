#include "native/model/python_literal.h"

#include <gtest/gtest.h>

namespace lattice {
namespace {

using Names = std::vector<std::string>;

TEST(ParseClassNamesTest, ReadsWhatExportersWrite) {
  EXPECT_EQ(*ParseClassNames("{0: 'car', 1: 'bus'}"), (Names{"car", "bus"}));
  EXPECT_EQ(*ParseClassNames("{0:\"driver's cab\",1:'b'}"), (Names{"driver's cab", "b"}));
  EXPECT_EQ(*ParseClassNames(" { 1 : 'b' ,\n 0 : 'a' , } "), (Names{"a", "b"}));
  EXPECT_EQ(*ParseClassNames(R"({0: 'a\'b\\c\n\x41\u00e9\u20ac'})"),
            (Names{"a'b\\c\nA\u00e9\u20ac"}));
  EXPECT_EQ(*ParseClassNames("{0: 'caf\u00e9'}"), (Names{"caf\u00e9"}));
  EXPECT_EQ(*ParseClassNames(R"({0: 'a\r\tb', 1: '\U0001f697'})"), (Names{"a\r\tb", "\U0001f697"}));
}

TEST(ParseClassNamesTest, WhatIsNoCharacterIsReplaced) {
  EXPECT_EQ(*ParseClassNames(R"({0: 'a\ud83db', 1: '\U00110000', 2: '\uffff\U0010ffff'})"),
            (Names{"a\ufffdb", "\ufffd", "\uffff\U0010ffff"}));
}

TEST(ParseClassNamesTest, RefusesEverythingElse) {
  for (const char* text : {"",
                           "{",
                           "{}",
                           "[]",
                           "['car']",
                           "{0: 'car'",
                           "{0: 'car}",
                           "{0 'car'}",
                           "{'0': 'car'}",
                           "{0: car}",
                           "{0: 'car'} x",
                           "{0: 'car' 1: 'bus'}",
                           "{0: 'a', 0: 'b'}",
                           "{1: 'a'}",
                           "{0: 'a', 2: 'b'}",
                           "{-1: 'a'}",
                           "{0: 'a\\",
                           "{0: 'a\\q'}",
                           "{0: '\\x4'}",
                           "{0: '\\u12'}",
                           "{0: '\\U0001f69'}",
                           "{,}",
                           "{0: 'a',,}",
                           "{9999999999: 'a'}",
                           "{0: None}",
                           "{0: __import__('os')}"}) {
    const auto names = ParseClassNames(text);
    EXPECT_EQ(names.status().code(), StatusCode::kInvalidModel) << text;
    EXPECT_NE(names.status().message().find("at byte"), std::string::npos) << text;
  }
}

TEST(ParseClassNamesTest, StopsAtTenThousandClasses) {
  std::string text = "{";
  for (int i = 0; i < 10'000; ++i) text += std::to_string(i) + ":'x',";
  EXPECT_EQ(ParseClassNames(text + "}")->size(), 10'000u);
  EXPECT_FALSE(ParseClassNames(text + "10000:'x'}").ok());
}

TEST(ParseIntegersTest, ReadsOneOrAList) {
  EXPECT_EQ(*ParseIntegers("640"), (std::vector<int>{640}));
  EXPECT_EQ(*ParseIntegers("[640, 480]"), (std::vector<int>{640, 480}));
  for (const char* text :
       {"", "[]", "[640", "640]", "(640]", "6.5", "-1", "[1,2,3,4,5,6,7,8,9]", "a"}) {
    EXPECT_EQ(ParseIntegers(text).status().code(), StatusCode::kInvalidModel) << text;
  }
}

}  // namespace
}  // namespace lattice
