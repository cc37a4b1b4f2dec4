#include "native/model/python_literal.h"

#include <gtest/gtest.h>

namespace lattice {
namespace {

TEST(ParseIntegersTest, ReadsOneOrAList) {
  EXPECT_EQ(*ParseIntegers("640"), (std::vector<int>{640}));
  for (const char* text : {"[640, 480]", "(640, 480)", "640,480", "640, 480", "[640.0, 480.]"}) {
    EXPECT_EQ(*ParseIntegers(text), (std::vector<int>{640, 480})) << text;
  }
  EXPECT_EQ(*ParseIntegers("32.0"), (std::vector<int>{32}));
  for (const char* text :
       {"", "[]", "[640", "640]", "(640]", "6.5", "-1", "[1,2,3,4,5,6,7,8,9]", "a", "640,"}) {
    EXPECT_EQ(ParseIntegers(text).status().code(), StatusCode::kInvalidModel) << text;
  }
}

}  // namespace
}  // namespace lattice
