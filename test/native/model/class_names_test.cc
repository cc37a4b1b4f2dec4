#include "native/model/class_names.h"

#include <gtest/gtest.h>

namespace lattice {
namespace {

using Names = std::vector<std::string>;

TEST(ParseClassNamesTest, ReadsWhatExportersWrite) {
  EXPECT_EQ(*ParseClassNames("{0: 'car', 1: 'bus'}"), (Names{"car", "bus"}));
  EXPECT_EQ(*ParseClassNames("{0:\"driver's cab\",1:'b'}"), (Names{"driver's cab", "b"}));
  EXPECT_EQ(*ParseClassNames(" { 1 : 'b' ,\n 0 : 'a' , } "), (Names{"a", "b"}));
  EXPECT_EQ(*ParseClassNames(R"({0: 'a\'b\\c\x41\u00e9\u20ac'})"), (Names{"a'b\\cA\u00e9\u20ac"}));
  EXPECT_EQ(*ParseClassNames("{0: 'caf\u00e9'}"), (Names{"caf\u00e9"}));
  EXPECT_EQ(*ParseClassNames(R"({0: '\U0001f697', 1: '\ud83d\ude97'})"),
            (Names{"\U0001f697", "\U0001f697"}));
}

TEST(ParseClassNamesTest, ReadsJsonListsAndYaml) {
  const Names expected{"car", "driver's cab", "bus"};
  for (const char* text : {
           R"({"0": "car", "1": "driver's cab", "2": "bus"})",
           R"({"2": "bus", "0": "car", "1": "driver's cab"})",
           R"(["car", "driver's cab", "bus"])",
           R"(['car', "driver's cab", 'bus',])",
           R"(('car', "driver's cab", 'bus'))",
           "0: car\n1: driver's cab\n2: bus\n",
           "names:\r\n  0: car\r\n  1: \"driver's cab\"\r\n  2: 'bus'\r\n",
           "---\n# of the depot\n- car   # small\n- driver's cab\n- bus",
       }) {
    const auto names = ParseClassNames(text);
    ASSERT_TRUE(names.ok()) << text << ": " << names.status().message();
    EXPECT_EQ(*names, expected) << text;
  }
}

TEST(ParseClassNamesTest, HasOneRuleOfNames) {
  EXPECT_EQ(*ParseClassNames(R"([' car ', 'traffic\r\n\t light', 'tench, Tinca tinca'])"),
            (Names{"car", "traffic light", "tench, Tinca tinca"}));
  const std::string longest(128, 'x');
  EXPECT_EQ(*ParseClassNames("['" + longest + "']"), (Names{longest}));
  const auto refusal = [](const std::string& name) {
    return ParseClassNames("['car', '" + name + "']").status().message();
  };
  EXPECT_EQ(refusal(std::string(5'000, 'x')), "class 1's name has 5000 characters, 128 at most");
  EXPECT_EQ(refusal(" \\n "), "class 1 has no name");
  EXPECT_EQ(ParseClassNames("0: car\n1:\n").status().message(), "class 1 has no name");
}

TEST(ParseClassNamesTest, KnowsThatThereAreNone) {
  for (const char* text : {"", " ", "None", "null", "{}", "[]", "names:"}) {
    EXPECT_EQ(ParseClassNames(text).status().code(), StatusCode::kInvalidModel) << text;
    EXPECT_NE(ParseClassNames(text).status().message().find("there are no class names"),
              std::string::npos)
        << text;
  }
}

TEST(ParseClassNamesTest, WhatIsNoCharacterIsReplaced) {
  EXPECT_EQ(*ParseClassNames(R"({0: 'a\ud83db', 1: '\U00110000', 2: '\uffff\U0010ffff'})"),
            (Names{"a\ufffdb", "\ufffd", "\uffff\U0010ffff"}));
}

TEST(ParseClassNamesTest, RefusesEverythingElse) {
  for (const char* text : {"{",
                           "{0: 'car'",
                           "{0: 'car}",
                           "{0 'car'}",
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
                           "[car]",
                           "['car'",
                           "['car', 'bus')",
                           "{'a': 'car'}",
                           "car, bus",
                           "car\nbus",
                           "0: car\n2: bus",
                           "0: 'car",
                           "0: 'car' x",
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

}  // namespace
}  // namespace lattice
