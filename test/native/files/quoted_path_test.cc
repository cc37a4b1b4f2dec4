#include "native/files/quoted_path.h"

#include <gtest/gtest.h>

namespace lattice {
namespace {

constexpr char kBad[] = "\xEF\xBF\xBD";

TEST(QuotedPath, KeepsOrdinaryText) {
  EXPECT_EQ(QuotedPath("a/b c.jpg"), "\"a/b c.jpg\"");
  EXPECT_EQ(QuotedPath("caf\xC3\xA9/\xF0\x9F\x9A\x97.png"), "\"caf\xC3\xA9/\xF0\x9F\x9A\x97.png\"");
}

TEST(QuotedPath, ReplacesWhatCouldHarmALog) {
  EXPECT_EQ(QuotedPath("a\nb\x1B[31m"), std::string("\"a") + kBad + "b" + kBad + "[31m\"");
  EXPECT_EQ(QuotedPath("\xE2\x80\xAEgpj"), std::string("\"") + kBad + "gpj\"");
  EXPECT_EQ(QuotedPath(std::string_view("\0", 1)), std::string("\"") + kBad + "\"");
}

TEST(QuotedPath, ReplacesInvalidUtf8) {
  for (const std::string_view bad :
       {"\xFF", "\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF5\x80\x80\x80"}) {
    std::string expected = "\"";
    for (size_t i = 0; i < bad.size(); ++i) expected += kBad;
    EXPECT_EQ(QuotedPath(bad), expected + '"');
  }
}

TEST(QuotedPath, CutsAtTwoHundredBytes) {
  EXPECT_EQ(QuotedPath(std::string(200, 'x')), '"' + std::string(200, 'x') + '"');
  EXPECT_EQ(QuotedPath(std::string(201, 'x')), '"' + std::string(200, 'x') + "\xE2\x80\xA6\"");
  // Never in the middle of a character.
  EXPECT_EQ(QuotedPath(std::string(199, 'x') + "\xC3\xA9"),
            '"' + std::string(199, 'x') + "\xE2\x80\xA6\"");
}

}  // namespace
}  // namespace lattice
