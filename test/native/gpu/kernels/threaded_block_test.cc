#include "test/native/gpu/kernels/threaded_block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "native/gpu/kernels/candidate_filter.h"
#include "native/gpu/kernels/image_detections.h"
#include "native/gpu/kernels/letterbox_tile.h"
#include "test/native/gpu/kernels/host_block.h"
#include "test/native/gpu/kernels/random_heads.h"
#include "test/native/gpu/kernels/random_pictures.h"

namespace lattice {
namespace {

TEST(ThreadedBlock, DetectionsAreTheCpus) {
  std::mt19937 random(1);
  for (const auto& [anchors, one_to_one] :
       std::vector<std::pair<int, bool>>{{40, false}, {200, false}, {100, true}}) {
    // More pairs than the page has space for.
    const int classes = one_to_one ? 30 : 3;
    const RandomHead random_head =
        MakeRandomHead({classes, 1, one_to_one}, GridsOf(anchors), 0.9, 20, random);
    const DeviceHead head = random_head.OnHost();
    // The picture fills the input, so that no box lies outside it.
    const LetterboxTransform t = ComputeLetterbox(960, 960, 640, 640);
    DetectionOptions options;
    options.iou = 0.2f;
    if (one_to_one) options.confidence = 0.0001f;
    const DeviceRequest request = MakeDeviceRequest(options, t);
    std::vector<CandidateKey> keys(static_cast<size_t>(anchors));
    int count = 0;
    for (int first = 0; first < anchors; first += kFilterAnchors) {
      FilterShared shared;
      FillWithRubbish(&shared);
      RunThreaded(kFilterThreads, [&](const ThreadedBlock& block) {
        FilterCandidates(block, head, request, first, &shared, keys.data(), &count);
      });
    }
    EXPECT_GT(count, anchors / 2);
    auto shared = std::make_unique<SuppressShared>();
    FillWithRubbish(shared.get());
    DeviceDetections result;
    RunThreaded(kSuppressThreads, [&](const ThreadedBlock& block) {
      DetectInImage(block, head, request, {keys.data(), nullptr, &count}, shared.get(), &result);
    });
    EXPECT_EQ(DifferenceFromCpu(result, random_head.DecodedByCpu(t, options)), "");
    EXPECT_EQ(count, 0);
  }
}

TEST(ThreadedBlock, RanksAreThoseOfASort) {
  std::mt19937 random(2);
  std::vector<CandidateKey> keys;
  for (int anchor = 0; anchor < 600; ++anchor) keys.push_back(MakeKey(0.5f, anchor, 0));
  std::shuffle(keys.begin(), keys.end(), random);
  std::vector<CandidateKey> sorted(keys.size());
  constexpr int kFirst = 576;  // the last block, partly filled
  RankShared shared;
  FillWithRubbish(&shared);
  RunThreaded(kRankThreads, [&](const ThreadedBlock& block) {
    RankKeys(block, keys.data(), 600, kFirst, &shared, sorted.data());
  });
  for (size_t i = kFirst; i < 600; ++i) {
    EXPECT_EQ(sorted[static_cast<size_t>(AnchorOf(keys[i]))], keys[i]) << i;
  }
}

TEST(ThreadedBlock, TilesAreTheCpus) {
  std::mt19937 random(3);
  const RandomPicture picture = MakeRandomPicture(PixelLayout::kYuv420, 311, 57, random);
  const LetterboxTransform t = ComputeLetterbox(311, 57, kTileSide, 24);
  std::vector<float> expected(3 * kTileSide * 24);
  Letterbox(picture.image, t, kTileSide, 24, expected.data());
  const uint8_t* const planes[3] = {picture.planes[0].data(), picture.planes[1].data(),
                                    picture.planes[2].data()};
  const DeviceImage image = DescribePicture(picture, planes, t);
  std::vector<float> input(expected.size());
  TileTaps taps;
  FillWithRubbish(&taps);
  RunThreaded(kTileThreads, [&](const ThreadedBlock& block) {
    LetterboxTile(block, image, kTileSide, 24, 0, 0, &taps, [&](const PixelRun& run) {
      for (int plane = 0; plane < 3; ++plane) {
        for (int i = 0; i < kRunPixels; ++i) {
          input[static_cast<size_t>((plane * 24 + run.y + i) * kTileSide + run.x)] =
              Normalised(run.levels[plane][i]);
        }
      }
    });
  });
  EXPECT_EQ(input, expected);
}

}  // namespace
}  // namespace lattice
