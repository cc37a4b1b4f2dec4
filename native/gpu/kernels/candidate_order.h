// Sorting of candidates, in plain C++ (see letterbox_tile.h for `Block`): up to kPageKeys inside
// one block, more by rank over many blocks.
#ifndef LATTICE_GPU_KERNELS_CANDIDATE_ORDER_H_
#define LATTICE_GPU_KERNELS_CANDIDATE_ORDER_H_

#include "native/base/host_device.h"
#include "native/gpu/kernels/candidate_key.h"

namespace lattice {

inline constexpr int kPageKeys = 1024;

// Sorts keys[0] to keys[size - 1] by a bitonic network; `size` is a power of two.
template <typename Block>
LATTICE_HOST_DEVICE void SortKeys(const Block& block, int threads, int size, CandidateKey* keys) {
  for (int run = 2; run <= size; run *= 2) {
    for (int distance = run / 2; distance > 0; distance /= 2) {
      block.Step([&](int thread) {
        for (int pair = thread; pair < size / 2; pair += threads) {
          const int low = 2 * pair - (pair & (distance - 1));
          const CandidateKey a = keys[low];
          const CandidateKey b = keys[low + distance];
          const bool rising = (low & run) == 0;
          if ((a > b) == rising) {
            keys[low] = b;
            keys[low + distance] = a;
          }
        }
      });
    }
  }
}

inline constexpr int kRankedKeys = 32;
inline constexpr int kRankParts = 8;
inline constexpr int kRankThreads = kRankedKeys * kRankParts;

struct RankShared {
  CandidateKey keys[kRankThreads];  // loaded block by block; each part compares with its own 32
  int ranks[kRankParts][kRankedKeys];
};

// Writes the block's 32 keys from `first` on to their places in `sorted`: a key's place is the
// number of smaller keys.
template <typename Block>
LATTICE_HOST_DEVICE void RankKeys(const Block& block, const CandidateKey* keys, int count,
                                  int first, RankShared* shared, CandidateKey* sorted) {
  block.Step([&](int thread) { shared->ranks[thread / kRankedKeys][thread % kRankedKeys] = 0; });
  for (int base = 0; base < count; base += kRankThreads) {
    block.Step([&](int thread) {
      shared->keys[thread] = base + thread < count ? keys[base + thread] : kNoCandidate;
    });
    block.Step([&](int thread) {
      const int column = thread % kRankedKeys;
      const int part = thread / kRankedKeys;
      if (first + column >= count) return;
      const CandidateKey own = keys[first + column];
      int smaller = 0;
      for (int i = 0; i < kRankedKeys; ++i) {
        smaller += shared->keys[part * kRankedKeys + i] < own ? 1 : 0;
      }
      shared->ranks[part][column] += smaller;
    });
  }
  block.Step([&](int thread) {
    if (thread >= kRankedKeys || first + thread >= count) return;
    int rank = 0;
    for (int part = 0; part < kRankParts; ++part) rank += shared->ranks[part][thread];
    sorted[rank] = keys[first + thread];
  });
}

}  // namespace lattice

#endif  // LATTICE_GPU_KERNELS_CANDIDATE_ORDER_H_
