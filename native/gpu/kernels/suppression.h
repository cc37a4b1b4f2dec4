// The work of an image's block after the score filter, in plain C++ (see letterbox_tile.h for
// `Block`): class-wise greedy suppression of the sorted candidates, then the rows of the result.
//
// Candidates are processed in pages of 1,024 (their boxes fit in shared memory) and, within a page,
// in groups of 64. All threads compare a group with the boxes kept so far and with itself; then one
// thread takes the survivors in order, in a time proportional to their number.
//
// `Block` also has Increment (see candidate_filter.h) and SetBits(word, bits): atomic word |= bits.
#ifndef LATTICE_GPU_KERNELS_SUPPRESSION_H_
#define LATTICE_GPU_KERNELS_SUPPRESSION_H_

#include <cstring>

#include "native/base/host_device.h"
#include "native/gpu/kernels/candidate_order.h"
#include "native/gpu/kernels/device_detections.h"
#include "native/gpu/kernels/device_head.h"

namespace lattice {

inline constexpr int kGroupKeys = 64;
inline constexpr int kGroupParts = 8;  // threads per candidate
inline constexpr int kSuppressThreads = kGroupKeys * kGroupParts;

struct alignas(16) SharedBox {
  Box box;
};

struct SuppressShared {
  CandidateKey keys[kPageKeys];
  SharedBox boxes[kPageKeys];
  // One more than the largest max_detections: an extra box shows that the list is truncated.
  CandidateKey kept_keys[kMostDetections + 1];
  SharedBox kept_boxes[kMostDetections + 1];
  alignas(8) uint8_t covers[kGroupKeys][kGroupParts];  // bit j: covers the group's candidate j
  uint32_t dead[kGroupKeys / 32];                      // bit j: a kept box covers candidate j
  int winners[kGroupKeys];
  int kept_before, kept;
  int pairs;  // of a one-to-one head, in `keys`
};

LATTICE_HOST_DEVICE inline int LowestBit(uint64_t bits) {
#ifdef __CUDA_ARCH__
  return __ffsll(static_cast<long long>(bits)) - 1;
#else
  return __builtin_ctzll(bits);
#endif
}

LATTICE_HOST_DEVICE inline int SmallerInt(int a, int b) { return a < b ? a : b; }

LATTICE_HOST_DEVICE inline int PowerOfTwoFrom(int number) {
  int power = 1;
  while (power < number) power *= 2;
  return power;
}

// Loads a page's candidates in order.
template <typename Block>
LATTICE_HOST_DEVICE void LoadPage(const Block& block, const CandidateKey* keys, int size,
                                  bool in_order, SuppressShared* shared) {
  const int padded = PowerOfTwoFrom(size);
  block.Step([&](int thread) {
    for (int i = thread; i < padded; i += kSuppressThreads) {
      shared->keys[i] = i < size ? keys[i] : kNoCandidate;
    }
  });
  if (!in_order) SortKeys(block, kSuppressThreads, padded, shared->keys);
}

template <typename Block>
LATTICE_HOST_DEVICE void ComputeBoxes(const Block& block, const DeviceHead& head, int size,
                                      SuppressShared* shared) {
  block.Step([&](int thread) {
    for (int i = thread; i < size; i += kSuppressThreads) {
      shared->boxes[i].box = head.BoxAt(AnchorOf(shared->keys[i]));
    }
  });
}

// Compares one candidate of the group with a share of the kept boxes and of the later candidates.
template <typename Block>
LATTICE_HOST_DEVICE void Compare(const Block& block, float iou, int group, int size, int thread,
                                 SuppressShared* shared) {
  const int row = thread / kGroupParts;
  const int part = thread % kGroupParts;
  uint8_t covered = 0;
  if (group + row < size) {
    const Box own = shared->boxes[group + row].box;
    const int own_class = ClassOf(shared->keys[group + row]);
    bool dead = false;
    for (int k = part; k < shared->kept; k += kGroupParts) {
      dead = dead || (ClassOf(shared->kept_keys[k]) == own_class &&
                      IntersectionOverUnion(shared->kept_boxes[k].box, own) > iou);
    }
    if (dead) block.SetBits(&shared->dead[row / 32], uint32_t{1} << (row % 32));
    for (int bit = 0; bit < 8; ++bit) {
      const int other = 8 * part + bit;
      if (other <= row || group + other >= size) continue;
      if (ClassOf(shared->keys[group + other]) != own_class) continue;
      const Box box = shared->boxes[group + other].box;
      if (IntersectionOverUnion(own, box) > iou) covered |= static_cast<uint8_t>(1u << bit);
    }
  }
  shared->covers[row][part] = covered;
}

// Called by one thread: takes the group's survivors in order, until `most` boxes are kept in total.
LATTICE_HOST_DEVICE inline void ChooseWinners(int size, int most, SuppressShared* shared) {
  const uint64_t dead = uint64_t{shared->dead[1]} << 32 | shared->dead[0];
  const uint64_t present = size >= kGroupKeys ? ~uint64_t{0} : (uint64_t{1} << size) - 1;
  uint64_t open = present & ~dead;
  int winners = 0;
  while (open != 0 && shared->kept + winners < most) {
    const int row = LowestBit(open);
    uint64_t covers;
    std::memcpy(&covers, shared->covers[row], sizeof covers);
    open &= ~(covers | uint64_t{1} << row);
    shared->winners[winners++] = row;
  }
  shared->kept_before = shared->kept;
  shared->kept += winners;
  shared->dead[0] = shared->dead[1] = 0;
}

template <typename Block>
LATTICE_HOST_DEVICE void SuppressGroup(const Block& block, float iou, int group, int size, int most,
                                       SuppressShared* shared) {
  block.Step([&](int thread) { Compare(block, iou, group, size, thread, shared); });
  block.Step([&](int thread) {
    if (thread == 0) ChooseWinners(SmallerInt(size - group, kGroupKeys), most, shared);
  });
  block.Step([&](int thread) {
    const int place = shared->kept_before + thread;
    if (place >= shared->kept) return;
    const int winner = group + shared->winners[thread];
    shared->kept_keys[place] = shared->keys[winner];
    shared->kept_boxes[place] = shared->boxes[winner];
  });
}

}  // namespace lattice

#endif  // LATTICE_GPU_KERNELS_SUPPRESSION_H_
