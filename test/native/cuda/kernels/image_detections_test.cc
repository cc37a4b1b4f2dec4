#include "native/cuda/kernels/image_detections.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "native/cuda/kernels/candidate_filter.h"
#include "test/native/cuda/kernels/host_block.h"
#include "test/native/cuda/kernels/random_heads.h"

namespace lattice {
namespace {

// What the three kernels do for one image, block after block.
class HostKernels {
 public:
  explicit HostKernels(int anchors)
      : keys_(static_cast<size_t>(anchors)), sorted_(static_cast<size_t>(anchors)) {}

  DeviceDetections Run(const HeadView& head, const DeviceRequest& request, uint32_t seed) {
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
  void Filter(const HeadView& head, const DeviceRequest& request, uint32_t seed) {
    std::vector<int> firsts;
    for (int first = 0; first < head.anchors; first += kFilterAnchors) firsts.push_back(first);
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
  const Detections expected =
      DecodeDetections(head.rows.data(), head.classes, head.anchors, transform, options);
  HostKernels kernels(head.anchors);
  const DeviceRequest request = MakeDeviceRequest(options, transform);
  const HeadView view{head.rows.data(), head.classes, head.anchors};
  // Twice: a run leaves the workspace ready for the next.
  for (uint32_t run = 0; run < 2; ++run) {
    EXPECT_EQ(DifferenceFromCpu(kernels.Run(view, request, seed + 10 * run), expected), "")
        << head.classes << " classes, " << head.anchors << " anchors, confidence "
        << options.confidence << ", iou " << options.iou << ", at most " << options.max_detections;
    EXPECT_EQ(kernels.count(), 0);
  }
  return kernels.found();
}

TEST(DetectInImage, SmallHeadsGiveTheCpusResult) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const auto classes = static_cast<int>(1 + random() % 20);
    const auto anchors = static_cast<int>(1 + random() % 400);
    const double share = static_cast<double>(random() % 11) / 10;
    const RandomHead head =
        MakeRandomHead(classes, anchors, share, round % 2 == 0 ? 5 : 1'000'000, random);
    ExpectTheCpusResult(head, MakeRandomOptions(classes, random), MakeRandomTransform(random),
                        random());
  }
}

TEST(DetectInImage, WholeHeadsGiveTheCpusResultWhateverTheNumberOfCandidates) {
  std::mt19937 random(2);
  int fewest = kMostAnchors;
  int most = 0;
  for (const double share : {0.0, 0.004, 0.03, 0.11, 0.122, 0.13, 0.25, 0.6, 1.0}) {
    const RandomHead head = MakeRandomHead(6, 8400, share, 1'000'000, random);
    DetectionOptions options = MakeRandomOptions(6, random);
    options.confidence = 0.5f;
    options.class_ids = {};
    const int found = ExpectTheCpusResult(head, options, MakeRandomTransform(random), random());
    fewest = std::min(fewest, found);
    most = std::max(most, found);
  }
  EXPECT_LT(fewest, kGroupKeys);
  EXPECT_GT(most, 7'000);
}

TEST(DetectInImage, LowConfidenceTakesEveryAnchor) {
  std::mt19937 random(3);
  for (const float iou : {0.0f, 0.3f, 0.7f, 1.0f}) {
    const RandomHead head = MakeRandomHead(80, 8400, 0.01, 100, random);
    DetectionOptions options;
    options.confidence = 0.001f;
    options.iou = iou;
    EXPECT_GT(ExpectTheCpusResult(head, options, MakeRandomTransform(random), random()), 7'000);
  }
}

// Page boundaries: 1,024 candidates are sorted in the block, one more by rank.
TEST(DetectInImage, CountsAroundAPageAndAGroup) {
  for (const int anchors : {1, 2, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 2047, 2048, 2049}) {
    RandomHead head{2, anchors, std::vector<float>(static_cast<size_t>(6 * anchors))};
    std::mt19937 random(static_cast<uint32_t>(anchors));
    for (int a = 0; a < anchors; ++a) {
      const auto set = [&](int row, float value) {
        head.rows[static_cast<size_t>(row * anchors + a)] = value;
      };
      set(0, static_cast<float>(random() % 640));
      set(1, static_cast<float>(random() % 640));
      set(2, static_cast<float>(random() % 200));
      set(3, static_cast<float>(random() % 200));
      set(4 + a % 2, 0.5f + static_cast<float>(random() % 100) / 250.0f);
    }
    DetectionOptions options;
    options.iou = 0.1f;
    EXPECT_EQ(ExpectTheCpusResult(head, options, ComputeLetterbox(640, 640, 640, 640), 7), anchors);
  }
}

TEST(DetectInImage, ThirtyThousandCandidatesAreTheMost) {
  constexpr int kAnchors = 30'100;
  RandomHead head{1, kAnchors, std::vector<float>(5 * kAnchors)};
  for (size_t a = 0; a < kAnchors; ++a) {
    const auto set = [&](size_t row, float value) { head.rows[row * kAnchors + a] = value; };
    set(0, 100);
    set(1, 100);
    set(2, 10);
    set(3, 10);
    set(4, 0.9f);
  }
  // The weakest stands alone: only the cap can drop it.
  head.rows[0] = 500;
  head.rows[4 * kAnchors] = 0.5f;
  EXPECT_EQ(ExpectTheCpusResult(head, {}, ComputeLetterbox(640, 640, 640, 640), 8), kAnchors);
}

TEST(DetectInImage, AThousandClasses) {
  std::mt19937 random(9);
  const RandomHead head = MakeRandomHead(kMostClasses, 300, 0.5, 1000, random);
  DetectionOptions options;
  EXPECT_GT(ExpectTheCpusResult(head, options, MakeRandomTransform(random), 10), 50);
  options.class_ids = {0, 31, 32, 500, kMostClasses - 1};
  options.confidence = 0.001f;
  ExpectTheCpusResult(head, options, MakeRandomTransform(random), 11);
}

}  // namespace
}  // namespace lattice
