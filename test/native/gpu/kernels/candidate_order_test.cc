#include "native/gpu/kernels/candidate_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "test/native/gpu/kernels/host_block.h"

namespace lattice {
namespace {

TEST(MakeKey, OrdersByScoreThenAnchor) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  const float falling[] = {
      kLargest, 1.0f, std::nextafter(1.0f, 0.0f), 0.5f, 1e-45f, 0.0f, -1e-45f, -0.5f, -kLargest};
  for (size_t i = 1; i < std::size(falling); ++i) {
    EXPECT_LT(MakeKey(falling[i - 1], 32'767, 1023), MakeKey(falling[i], 0, 0)) << i;
  }
  EXPECT_LT(MakeKey(0.5f, 7, 1023), MakeKey(0.5f, 8, 0));
  EXPECT_LT(MakeKey(-0.0f, 1, 0), MakeKey(0.0f, 2, 0));
  EXPECT_LT(MakeKey(0.0f, 1, 0), MakeKey(-0.0f, 2, 0));
  EXPECT_LT(MakeKey(-kLargest, 32'767, 1023), kNoCandidate);
}

TEST(MakeKey, HoldsAnchorAndClass) {
  const CandidateKey key = MakeKey(0.25f, 32'767, 1023);
  EXPECT_EQ(AnchorOf(key), 32'767);
  EXPECT_EQ(ClassOf(key), 1023);
}

std::vector<CandidateKey> RandomKeys(int count, std::mt19937& random) {
  std::vector<CandidateKey> keys;
  for (int anchor = 0; anchor < count; ++anchor) {
    keys.push_back(MakeKey(static_cast<float>(random() % 50), anchor, 3));
  }
  std::shuffle(keys.begin(), keys.end(), random);
  return keys;
}

TEST(SortKeys, SortsEveryPowerOfTwo) {
  std::mt19937 random(1);
  for (int size = 1; size <= kPageKeys; size *= 2) {
    for (const int threads : {1, 64, 512}) {
      std::vector<CandidateKey> keys = RandomKeys(size, random);
      std::vector<CandidateKey> expected = keys;
      std::sort(expected.begin(), expected.end());
      SortKeys(HostBlock(threads, random()), threads, size, keys.data());
      EXPECT_EQ(keys, expected) << size << " keys, " << threads << " threads";
    }
  }
}

TEST(RankKeys, SortsAnyNumber) {
  std::mt19937 random(2);
  for (const int count : {1, 31, 32, 33, 255, 256, 257, 1025, 3000}) {
    const std::vector<CandidateKey> keys = RandomKeys(count, random);
    std::vector<CandidateKey> expected = keys;
    std::sort(expected.begin(), expected.end());
    std::vector<CandidateKey> sorted(static_cast<size_t>(count), kNoCandidate);
    for (int first = 0; first < count; first += kRankedKeys) {
      RankShared shared;
      FillWithRubbish(&shared);
      RankKeys(HostBlock(kRankThreads, random()), keys.data(), count, first, &shared,
               sorted.data());
    }
    EXPECT_EQ(sorted, expected) << count;
  }
}

}  // namespace
}  // namespace lattice
