#include "native/engine_cache/engine_header.h"

#include <gtest/gtest.h>

#include "test/native/engine_cache/engine_folder.h"

namespace lattice {
namespace {

TEST(EngineHeaderTest, ComesBackFromItsText) {
  EngineHeader header = SampleHeader();
  EXPECT_EQ(ParseHeader(HeaderText(header)), header);
  header.model_name = "gr\xc3\xbcn\nlicht.pt";
  header.build_ms = 0;
  header.created_s = -1;
  EXPECT_EQ(ParseHeader(HeaderText(header)), header);
}

TEST(EngineHeaderTest, NothingElseIsAHeader) {
  const std::string text = HeaderText(SampleHeader());
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_EQ(ParseHeader(text.substr(0, size)), std::nullopt) << size;
  }
  EXPECT_EQ(ParseHeader(text + "\n"), std::nullopt);
  EXPECT_EQ(ParseHeader(text + "more=1\n"), std::nullopt);
  const size_t number = text.find("build_ms=") + 9;
  EXPECT_EQ(ParseHeader(text.substr(0, number) + '0' + text.substr(number)), std::nullopt);
}

}  // namespace
}  // namespace lattice
