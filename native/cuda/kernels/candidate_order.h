// Sorting of candidates, in plain C++ (see letterbox_tile.h for `Block`): up to kPageKeys inside
// one block, more by rank over many blocks.
#ifndef LATTICE_CUDA_KERNELS_CANDIDATE_ORDER_H_
#define LATTICE_CUDA_KERNELS_CANDIDATE_ORDER_H_

#include "native/base/host_device.h"
#include "native/cuda/kernels/candidate_key.h"

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
inline constexpr int kRankSlices = 8;
inline constexpr int kRankThreads = kRankedKeys * kRankSlices;

struct RankShared {
  CandidateKey keys[kRankThreads];  // staged; each slice compares with its own 32
  int ranks[kRankSlices][kRankedKeys];
};

// A block's 32 keys from `first` on -> their places in `sorted`: as many keys are smaller.
template <typename Block>
LATTICE_HOST_DEVICE void RankKeys(const Block& block, const CandidateKey* keys, int count,
                                  int first, RankShared* shared, CandidateKey* sorted) {
  block.Step([&](int thread) { shared->ranks[thread / kRankedKeys][thread % kRankedKeys] = 0; });
  for (int base = 0; base < count; base += kRankThreads) {
    block.Step([&](int thread) {
      shared->keys[thread] = base + thread < count ? keys[base + thread] : kNoCandidate;
    });
    block.Step([&](int thread) {
      const int lane = thread % kRankedKeys;
      const int slice = thread / kRankedKeys;
      if (first + lane >= count) return;
      const CandidateKey own = keys[first + lane];
      int smaller = 0;
      for (int i = 0; i < kRankedKeys; ++i) {
        smaller += shared->keys[slice * kRankedKeys + i] < own ? 1 : 0;
      }
      shared->ranks[slice][lane] += smaller;
    });
  }
  block.Step([&](int thread) {
    if (thread >= kRankedKeys || first + thread >= count) return;
    int rank = 0;
    for (int slice = 0; slice < kRankSlices; ++slice) rank += shared->ranks[slice][thread];
    sorted[rank] = keys[first + thread];
  });
}

}  // namespace lattice

#endif  // LATTICE_CUDA_KERNELS_CANDIDATE_ORDER_H_
