// Random head outputs and options, for the property tests on the host and on the GPU.
#ifndef LATTICE_TEST_CUDA_KERNELS_RANDOM_HEADS_H_
#define LATTICE_TEST_CUDA_KERNELS_RANDOM_HEADS_H_

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "native/cuda/kernels/device_detections.h"

namespace lattice {

struct RandomHead {
  int classes, anchors;
  std::vector<float> rows;  // [4 + classes][anchors]
};

// About `share` of the anchors have a score above 0.5; the others stay below 0.01. Scores come in
// `levels` steps, so that few levels mean many ties. Odd anchors get values no network should give:
// NaN, infinities, boxes turned inside out.
inline RandomHead MakeRandomHead(int classes, int anchors, double share, int levels,
                                 std::mt19937& random) {
  RandomHead head{
      classes, anchors,
      std::vector<float>(static_cast<size_t>(4 + classes) * static_cast<size_t>(anchors))};
  const auto real = [&](float low, float high) {
    return std::uniform_real_distribution<float>(low, high)(random);
  };
  const auto at = [&](int row, int anchor) -> float& {
    return head.rows[static_cast<size_t>(row) * static_cast<size_t>(anchors) +
                     static_cast<size_t>(anchor)];
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float odd[] = {NAN, kInfinity, -kInfinity, 3e38f, -0.0f, 0.0f};
  const float largest_side = real(5, 300);
  for (int a = 0; a < anchors; ++a) {
    at(0, a) = real(-20, 660);
    at(1, a) = real(-20, 660);
    at(2, a) = real(0, largest_side);
    at(3, a) = real(0, largest_side);
    for (int c = 0; c < classes; ++c) {
      at(4 + c, a) = 0.01f * static_cast<float>(random() % 64) / 64.0f;
    }
    if (real(0, 1) < share) {
      const auto class_id = static_cast<int>(random() % static_cast<uint32_t>(classes));
      const auto level = static_cast<float>(1 + random() % static_cast<uint32_t>(levels));
      at(4 + class_id, a) = 0.5f + 0.5f * level / static_cast<float>(levels);
      // The same score in another class: the lower one wins.
      if (random() % 8 == 0) at(4 + (class_id + 1) % classes, a) = at(4 + class_id, a);
    }
    if (random() % 16 == 0) at(2 + static_cast<int>(random() % 2), a) *= -1;
    if (random() % 32 == 0) {
      at(static_cast<int>(random() % static_cast<uint32_t>(4 + classes)), a) = odd[random() % 6];
    }
  }
  return head;
}

inline DetectionOptions MakeRandomOptions(int classes, std::mt19937& random) {
  DetectionOptions options;
  const float confidences[] = {0.5f, 0.25f, 0.001f, 0.75f, 0.0f, -1.0f};
  options.confidence = confidences[random() % 6];
  options.iou = static_cast<float>(random() % 21) / 20.0f;
  const int most[] = {300, 300, 100, 7, 1, 0};
  options.max_detections = most[random() % 6];
  const uint32_t wanted = random() % 3;
  for (uint32_t i = 0; i < wanted; ++i) {
    options.class_ids.push_back(static_cast<int>(random() % static_cast<uint32_t>(classes)));
  }
  return options;
}

inline LetterboxTransform MakeRandomTransform(std::mt19937& random) {
  const auto side = [&] { return static_cast<int>(1 + random() % 3000); };
  return ComputeLetterbox(side(), side(), 640, 640);
}

// "" where `found` is the CPU's result to the bit, else what differs.
inline std::string DifferenceFromCpu(const DeviceDetections& found, const Detections& expected) {
  if (found.count != static_cast<int>(expected.boxes.size())) {
    return std::to_string(found.count) + " boxes instead of " +
           std::to_string(expected.boxes.size());
  }
  if (found.truncated != (expected.truncated ? 1 : 0)) return "truncated differs";
  for (size_t i = 0; i < expected.boxes.size(); ++i) {
    if (std::memcmp(found.rows[i], &expected.boxes[i], sizeof(Detection)) != 0) {
      return "row " + std::to_string(i) + " differs";
    }
  }
  return "";
}

}  // namespace lattice

#endif  // LATTICE_TEST_CUDA_KERNELS_RANDOM_HEADS_H_
