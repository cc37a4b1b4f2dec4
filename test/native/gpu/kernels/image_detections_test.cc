#include "native/gpu/kernels/image_detections.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "native/gpu/kernels/candidate_filter.h"
#include "native/gpu/kernels/device_head.h"
#include "test/native/gpu/kernels/host_block.h"
#include "test/native/gpu/kernels/random_heads.h"

namespace lattice {
namespace {

// The work of the three kernels for one image, block after block.
class HostKernels {
 public:
  explicit HostKernels(int anchors)
      : keys_(static_cast<size_t>(anchors)), sorted_(static_cast<size_t>(anchors)) {}

  DeviceDetections Run(const DeviceHead& head, const DeviceRequest& request, uint32_t seed) {
    Filter(head, request, seed);
    found_ = count_;
    if (count_ > kPageKeys) Rank(seed);
    auto shared = std::make_unique<SuppressShared>();
    FillWithRubbish(shared.get());
    DeviceDetections result;
    FillWithRubbish(&result);
    DetectInImage(HostBlock(kSuppressThreads, seed), head, request,
                  {keys_.data(), sorted_.data(), &count_}, shared.get(), &result);
    return result;
  }
  int found() const { return found_; }
  int count() const { return count_; }

 private:
  void Filter(const DeviceHead& head, const DeviceRequest& request, uint32_t seed) {
    std::vector<int> firsts;
    for (int first = 0; first < head.anchors(); first += kFilterAnchors) firsts.push_back(first);
    std::shuffle(firsts.begin(), firsts.end(), std::minstd_rand(seed));
    for (const int first : firsts) {
      FilterShared shared;
      FillWithRubbish(&shared);
      FilterCandidates(HostBlock(kFilterThreads, seed + 1), head, request, first, &shared,
                       keys_.data(), &count_);
    }
  }
  void Rank(uint32_t seed) {
    for (int first = 0; first < count_; first += kRankedKeys) {
      RankShared shared;
      FillWithRubbish(&shared);
      RankKeys(HostBlock(kRankThreads, seed + 2), keys_.data(), count_, first, &shared,
               sorted_.data());
    }
  }

  std::vector<CandidateKey> keys_;
  std::vector<CandidateKey> sorted_;
  int count_ = 0;
  int found_ = 0;
};

// Returns how many candidates there were.
int ExpectTheCpusResult(const RandomHead& head, const DetectionOptions& options,
                        const LetterboxTransform& transform, uint32_t seed) {
  const Detections expected = head.DecodedByCpu(transform, options);
  HostKernels kernels(head.anchors());
  const DeviceRequest request = MakeDeviceRequest(options, transform);
  // Twice: a run leaves the workspace ready for the next.
  for (uint32_t run = 0; run < 2; ++run) {
    EXPECT_EQ(DifferenceFromCpu(kernels.Run(head.OnHost(), request, seed + 10 * run), expected), "")
        << head.head.classes << " classes, " << head.head.bins << " bins, " << head.anchors()
        << " anchors, confidence " << options.confidence << ", iou " << options.iou << ", at most "
        << options.max_detections << (head.head.one_to_one ? ", one to one" : "");
    EXPECT_EQ(kernels.count(), 0);
  }
  return kernels.found();
}

Grids RandomGrids(std::mt19937& random) {
  Grids grids;
  for (auto& [columns, rows] : grids) {
    columns = static_cast<int>(1 + random() % 12);
    rows = static_cast<int>(1 + random() % 12);
  }
  return grids;
}

// Transform of a picture in which every cell of any grid lies.
constexpr LetterboxTransform kEndless = {.source_width = 1 << 20, .source_height = 1 << 20};

TEST(DetectInImage, SmallHeadsGiveTheCpusResult) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const HeadKind kind{static_cast<int>(1 + random() % 20), round % 3 == 0 ? 1 : kDflBins,
                        round % 2 == 0};
    const double share = static_cast<double>(random() % 11) / 10;
    const RandomHead head =
        MakeRandomHead(kind, RandomGrids(random), share, round % 5 == 0 ? 5 : 1'000'000, random,
                       round % 7 == 0 ? 40.0f : 6.0f);
    ExpectTheCpusResult(head, MakeRandomOptions(kind.classes, random), MakeRandomTransform(random),
                        random());
  }
}

TEST(DetectInImage, WholeHeadsGiveTheCpusResultWhateverTheNumberOfCandidates) {
  std::mt19937 random(2);
  for (const bool one_to_one : {false, true}) {
    int fewest = kMostAnchors;
    int most = 0;
    for (const double share : {0.0, 0.004, 0.03, 0.11, 0.122, 0.13, 0.25, 0.6, 0.99}) {
      const RandomHead head = MakeRandomHead({6, 1, one_to_one}, kGrids640, share, 1000, random);
      DetectionOptions options = MakeRandomOptions(6, random);
      options.confidence = 0.5f;
      options.class_ids = {};
      const LetterboxTransform t = ComputeLetterbox(1280, 1280, 640, 640);
      const int found = ExpectTheCpusResult(head, options, t, random());
      fewest = std::min(fewest, found);
      most = std::max(most, found);
    }
    EXPECT_LT(fewest, kGroupKeys);
    EXPECT_GT(most, 7'000);
  }
}

TEST(DetectInImage, LowConfidenceTakesEveryAnchor) {
  std::mt19937 random(3);
  for (const float iou : {0.0f, 0.3f, 0.7f, 1.0f}) {
    const RandomHead head = MakeRandomHead({80, kDflBins, false}, kGrids640, 0.01, 100, random);
    DetectionOptions options;
    options.confidence = 0.0001f;
    options.iou = iou;
    EXPECT_GT(ExpectTheCpusResult(head, options, MakeRandomTransform(random), random()), 7'000);
  }
}

// A one-to-one head: more pairs than the page holds, strip after strip, down to all of them.
TEST(DetectInImage, EveryClassOfEveryAnchorMayPass) {
  std::mt19937 random(4);
  for (const int classes : {1, 2, 80, kMostClasses}) {
    const RandomHead head = MakeRandomHead(
        {classes, 1, true}, GridsOf(classes == kMostClasses ? 320 : 2000), 0.5, 50, random);
    for (const int most : {300, 299, 5, 0}) {
      DetectionOptions options;
      options.confidence = 0.00001f;
      options.max_detections = most;
      ExpectTheCpusResult(head, options, MakeRandomTransform(random), random());
    }
  }
}

// Logits around the threshold's own, where the sigmoid decides.
TEST(DetectInImage, ThresholdsAtTheEdge) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    RandomHead head = MakeRandomHead({1, 1, round % 2 == 0}, GridsOf(100), 0, 1, random);
    DetectionOptions options;
    options.confidence = std::uniform_real_distribution<float>(0.0005f, 0.9995f)(random);
    options.iou = 1;
    const float logit = std::log(options.confidence / (1 - options.confidence));
    for (auto& classes : head.classes) {
      for (Half& half : classes) {
        half.bits = static_cast<uint16_t>(ToHalfBits(logit) + random() % 5 - 2);
      }
    }
    head.SetFloats();
    ExpectTheCpusResult(head, options, MakeRandomTransform(random), random());
  }
}

// Page boundaries: 1,024 candidates are sorted in the block, one more by rank.
TEST(DetectInImage, CountsAroundAPageAndAGroup) {
  for (const int anchors : {1, 2, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 2047, 2048, 2049}) {
    for (const bool one_to_one : {false, true}) {
      std::mt19937 random(static_cast<uint32_t>(anchors));
      RandomHead head({2, 1, one_to_one}, GridsOf(anchors));
      for (size_t scale = 0; scale < kHeadScales; ++scale) {
        for (Half& half : head.boxes[scale]) {
          half.bits = ToHalfBits(static_cast<float>(1 + random() % 100) / 10.0f);
        }
        for (Half& half : head.classes[scale]) {
          half.bits = ToHalfBits(static_cast<float>(random() % 100) / 100.0f);
        }
      }
      head.SetFloats();
      DetectionOptions options;
      options.iou = 0.1f;
      EXPECT_EQ(ExpectTheCpusResult(head, options, kEndless, 7), anchors);
    }
  }
}

TEST(DetectInImage, ThirtyThousandCandidatesAreTheMost) {
  constexpr int kAnchors = 30'100;
  RandomHead head({1, 1, false}, {{{kAnchors, 1}, {0, 0}, {0, 0}}});
  for (size_t a = 0; a < kAnchors; ++a) {
    // All of them lie on one place: the distances to the sides make up for the cell's.
    for (size_t side = 0; side < 4; ++side) {
      const float cell = a < 100 ? 0 : static_cast<float>(a % 1000) / 8;
      head.boxes[0][side * kAnchors + a] = {ToHalfBits(side % 2 == 0 ? cell + 60 : 60)};
    }
    head.classes[0][a] = {ToHalfBits(2)};
  }
  // The weakest stands alone: only the cap can drop it.
  for (size_t side = 0; side < 4; ++side) head.boxes[0][side * kAnchors] = {ToHalfBits(0.25f)};
  head.classes[0][0] = {ToHalfBits(1)};
  head.SetFloats();
  DetectionOptions options;
  options.iou = 0.999f;
  EXPECT_EQ(ExpectTheCpusResult(head, options, kEndless, 8), kAnchors);
}

TEST(DetectInImage, AThousandClasses) {
  std::mt19937 random(9);
  for (const bool one_to_one : {false, true}) {
    const RandomHead head =
        MakeRandomHead({kMostClasses, kDflBins, one_to_one}, GridsOf(300), 0.5, 1000, random);
    DetectionOptions options;
    EXPECT_GT(ExpectTheCpusResult(head, options, kEndless, 10), 50);
    options.class_ids = {0, 31, 32, 500, kMostClasses - 1};
    options.confidence = 0.001f;
    ExpectTheCpusResult(head, options, MakeRandomTransform(random), 11);
  }
}

}  // namespace
}  // namespace lattice
