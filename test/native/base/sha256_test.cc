#include "native/base/sha256.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace lattice {
namespace {

std::string HexOf(const std::string& text, Sha256Code code) {
  Sha256 sha(code);
  sha.Update(text);
  return Hex(sha.Finish());
}

class Sha256Test : public testing::TestWithParam<Sha256Code> {};

// FIPS 180-4 and NIST's example values.
TEST_P(Sha256Test, AnswersThePublishedVectors) {
  const Sha256Code code = GetParam();
  EXPECT_EQ(HexOf("", code), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(HexOf("abc", code), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(HexOf("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", code),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(HexOf("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                  "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
                  code),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(HexOf(std::string(1'000'000, 'a'), code),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_P(Sha256Test, DoesNotDependOnHowTheBytesArrive) {
  std::mt19937 random(7);
  std::string text(1000, '\0');
  for (char& byte : text) byte = static_cast<char>(random());
  for (int round = 0; round < 300; ++round) {
    const std::string part = text.substr(0, random() % text.size());
    Sha256 sha(GetParam());
    for (size_t at = 0; at < part.size();) {
      const size_t size = std::min<size_t>(random() % 150, part.size() - at);
      sha.Update(std::string_view(part).substr(at, size));
      at += size;
    }
    EXPECT_EQ(Hex(sha.Finish()), HexOf(part, Sha256Code::kPortable)) << part.size();
  }
}

INSTANTIATE_TEST_SUITE_P(BothCodes, Sha256Test,
                         testing::Values(Sha256Code::kFastest, Sha256Code::kPortable),
                         [](const auto& each) {
                           return each.param == Sha256Code::kFastest ? "fastest" : "portable";
                         });

}  // namespace
}  // namespace lattice
