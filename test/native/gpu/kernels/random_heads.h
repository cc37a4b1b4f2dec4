// Random convolution outputs of cut heads and options, for the property tests on the host and on
// the GPU.
#ifndef LATTICE_TEST_GPU_KERNELS_RANDOM_HEADS_H_
#define LATTICE_TEST_GPU_KERNELS_RANDOM_HEADS_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "native/gpu/kernels/device_detections.h"
#include "native/gpu/kernels/device_head.h"

namespace lattice {

// Columns and rows of the three grids.
using Grids = std::array<std::pair<int, int>, kHeadScales>;

// Grids of a square of 640 pixels.
inline constexpr Grids kGrids640 = {{{80, 80}, {40, 40}, {20, 20}}};

// Grids of any number of cells; the first has most of them.
inline Grids GridsOf(int anchors) {
  const int last = anchors / 20;
  const int middle = anchors / 5;
  return {{{anchors - middle - last, 1}, {1, middle}, {last, 1}}};
}

struct HeadKind {
  int classes = 80;
  int bins = kDflBins;
  bool one_to_one = false;
};

// One image's tensors, in both types.
struct RandomHead {
  Head head;
  Grids grids;
  std::array<std::vector<Half>, kHeadScales> boxes, classes;
  std::array<std::vector<float>, kHeadScales> box_floats, class_floats;

  RandomHead(const HeadKind& kind, const Grids& of) : grids(of) {
    head = {HeadLayout::kScales, kind.classes, kind.bins, {8, 16, 32}, kind.one_to_one};
    for (size_t i = 0; i < kHeadScales; ++i) {
      boxes[i].resize(Cells(i) * static_cast<size_t>(4 * kind.bins));
      classes[i].resize(Cells(i) * static_cast<size_t>(kind.classes));
    }
  }

  size_t Cells(size_t scale) const {
    return static_cast<size_t>(grids[scale].first) * static_cast<size_t>(grids[scale].second);
  }
  int anchors() const { return static_cast<int>(Cells(0) + Cells(1) + Cells(2)); }

  // Call it when the halves are complete.
  void SetFloats() {
    const auto widened = [](const std::vector<Half>& halves) {
      std::vector<float> floats(halves.size());
      std::transform(halves.begin(), halves.end(), floats.begin(),
                     [](Half half) { return static_cast<float>(half); });
      return floats;
    };
    for (size_t i = 0; i < kHeadScales; ++i) {
      box_floats[i] = widened(boxes[i]);
      class_floats[i] = widened(classes[i]);
    }
  }

  // With these tensors.
  DeviceHead On(const std::array<const Half*, kHeadScales>& boxes_there,
                const std::array<const Half*, kHeadScales>& classes_there) const {
    DeviceHead device;
    device.classes = head.classes;
    device.bins = head.bins;
    device.one_to_one = head.one_to_one ? 1 : 0;
    for (size_t i = 0; i < kHeadScales; ++i) {
      device.strides[i] = head.strides[i];
      device.scales[i] = {boxes_there[i], classes_there[i], grids[i].first,
                          static_cast<int>(Cells(i))};
    }
    return device;
  }
  DeviceHead OnHost() const {
    return On({boxes[0].data(), boxes[1].data(), boxes[2].data()},
              {classes[0].data(), classes[1].data(), classes[2].data()});
  }

  Detections DecodedByCpu(const LetterboxTransform& t, const DetectionOptions& options) const {
    HeadOutput output;
    for (size_t i = 0; i < kHeadScales; ++i) {
      output.scales[i] = {box_floats[i].data(), class_floats[i].data(), grids[i].first,
                          static_cast<int>(Cells(i))};
    }
    return FindBoxes(head, output, t, options);
  }
};

// About `share` of the anchors have a score above 0.5; the others stay below 0.01. Logits come in
// `levels` steps up to `highest`, so that few levels mean many ties; beyond 16 scores are rounded
// to the same float. Odd anchors get values no network should give: NaN, infinities, sides beyond
// each other.
inline RandomHead MakeRandomHead(const HeadKind& kind, const Grids& grids, double share, int levels,
                                 std::mt19937& random, float highest = 6) {
  RandomHead made(kind, grids);
  const auto real = [&](float low, float high) {
    return std::uniform_real_distribution<float>(low, high)(random);
  };
  const auto below = [&](int most) {
    return static_cast<size_t>(random() % static_cast<uint32_t>(most));
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float odd[] = {NAN, kInfinity, -kInfinity, kLargestHalf, -0.0f, 0.0f};
  const float largest_side = real(1, 15);
  for (size_t scale = 0; scale < kHeadScales; ++scale) {
    const size_t cells = made.Cells(scale);
    for (size_t cell = 0; cell < cells; ++cell) {
      const auto set = [&](std::vector<Half>& tensor, size_t channel, float value) {
        tensor[channel * cells + cell] = {ToHalfBits(value)};
      };
      for (size_t i = 0; i < static_cast<size_t>(4 * kind.bins); ++i) {
        set(made.boxes[scale], i, kind.bins == 1 ? real(0, largest_side) : real(-4, 4));
      }
      for (size_t c = 0; c < static_cast<size_t>(kind.classes); ++c) {
        set(made.classes[scale], c, real(-9, -5));
      }
      while (real(0, 1) < share) {
        const size_t c = below(kind.classes);
        const float logit =
            highest * static_cast<float>(1 + below(levels)) / static_cast<float>(levels);
        set(made.classes[scale], c, logit);
        // The same score in another class: the lower one wins, or both are boxes.
        if (random() % 8 == 0) {
          set(made.classes[scale], (c + 1) % static_cast<size_t>(kind.classes), logit);
        }
        if (random() % 2 == 0) break;
      }
      if (random() % 16 == 0) set(made.boxes[scale], below(4 * kind.bins), real(-20, 0));
      if (random() % 32 == 0) set(made.boxes[scale], below(4 * kind.bins), odd[random() % 6]);
      if (random() % 64 == 0) set(made.classes[scale], below(kind.classes), odd[random() % 6]);
    }
  }
  made.SetFloats();
  return made;
}

inline DetectionOptions MakeRandomOptions(int classes, std::mt19937& random) {
  DetectionOptions options;
  const float confidences[] = {0.5f, 0.25f, 0.001f, 0.75f, 0.0f, 0.01f, 0.99f, 1.0f};
  options.confidence = confidences[random() % 8];
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

// "" where `found` is the CPU's result, else what differs. The host runs the very same arithmetic;
// a GPU has an exponential of its own, whose last bits differ.
inline std::string DifferenceFromCpu(const DeviceDetections& found, const Detections& expected,
                                     float tolerance = 0) {
  if (found.count != static_cast<int>(expected.boxes.size())) {
    return std::to_string(found.count) + " boxes instead of " +
           std::to_string(expected.boxes.size());
  }
  if (found.truncated != (expected.truncated ? 1 : 0)) return "truncated differs";
  for (size_t i = 0; i < expected.boxes.size(); ++i) {
    const Detection& box = expected.boxes[i];
    const float values[] = {box.x1, box.y1, box.x2, box.y2, box.score, box.class_id};
    for (size_t k = 0; k < 6; ++k) {
      const float difference = std::abs(found.rows[i][k] - values[k]);
      // A side of a box is the difference of numbers of some hundred pixels.
      const float allowed = tolerance * (k < 4 ? 100.0f : 1.0f);
      if (!(difference <= allowed)) {
        return "value " + std::to_string(k) + " of row " + std::to_string(i) + " is " +
               std::to_string(found.rows[i][k]) + " instead of " + std::to_string(values[k]);
      }
    }
  }
  return "";
}

}  // namespace lattice

#endif  // LATTICE_TEST_GPU_KERNELS_RANDOM_HEADS_H_
