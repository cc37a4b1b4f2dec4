#include "native/base/sha256.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "native/base/sha256_blocks.h"

namespace lattice {
namespace {

// NIST's examples, and lengths around those at which the padding needs a block more.
TEST(Sha256Test, IsThatOfTheStandard) {
  EXPECT_EQ(Sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(Sha256(std::string(55, 'x')),
            "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
  EXPECT_EQ(Sha256(std::string(63, '\xff')),
            "d12449c8124182545ae91924286cc6af13528bcf62a5ddbd5e00b891fffc1b48");
  EXPECT_EQ(Sha256(std::string(64, '\0')),
            "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b");
}

TEST(Sha256Test, TheInstructionsOfTheCpuGiveTheSame) {
  const AddSha256Blocks of_cpu = AddSha256BlocksWithCpu();
  if (of_cpu == nullptr) GTEST_SKIP() << "left out: this CPU has no SHA instructions";
  std::mt19937 random(1);
  std::string bytes(kSha256BlockBytes * 33 + 1, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  // At every alignment of the bytes, from every state.
  for (size_t blocks = 0; blocks <= 32; ++blocks) {
    Sha256State state;
    for (uint32_t& word : state) word = static_cast<uint32_t>(random());
    Sha256State other = state;
    of_cpu(bytes.data() + blocks, blocks, state);
    AddSha256BlocksPortable(bytes.data() + blocks, blocks, other);
    EXPECT_EQ(state, other) << blocks;
  }
}

}  // namespace
}  // namespace lattice
