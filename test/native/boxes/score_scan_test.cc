#include "native/boxes/score_scan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace lattice {
namespace {

TEST(ScoreScan, FindsTheBestClassOfEachAnchor) {
  std::mt19937 random(1);
  for (const int anchors : {1, 7, 1'023, 1'024, 1'025, 3'000}) {
    const int classes = 5;
    std::vector<float> scores(static_cast<size_t>(classes * anchors));
    for (float& score : scores) score = static_cast<float>(random() % 100) / 100.0f;
    const std::vector<Candidate> found = ScanScores(scores.data(), classes, anchors, 0.9f);
    size_t next = 0;
    for (int a = 0; a < anchors; ++a) {
      int best = 0;
      for (int c = 1; c < classes; ++c) {
        if (scores[static_cast<size_t>(c * anchors + a)] >
            scores[static_cast<size_t>(best * anchors + a)]) {
          best = c;
        }
      }
      const float score = scores[static_cast<size_t>(best * anchors + a)];
      if (!(score > 0.9f)) continue;
      ASSERT_LT(next, found.size());
      EXPECT_EQ(found[next].anchor, a);
      EXPECT_EQ(found[next].class_id, best);
      EXPECT_EQ(found[next].score, score);
      ++next;
    }
    EXPECT_EQ(next, found.size());
  }
}

TEST(ScoreScan, NanNeverWins) {
  const std::vector<float> scores = {NAN, NAN, 0.5f, NAN};  // two classes, two anchors
  const std::vector<Candidate> found = ScanScores(scores.data(), 2, 2, 0.1f);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].anchor, 0);
  EXPECT_EQ(found[0].class_id, 1);
  EXPECT_TRUE(ScanScores(scores.data(), 2, 2, NAN).empty());
}

TEST(ScoreScan, OfEqualScoresTheLowestClassWins) {
  const std::vector<float> scores = {0.5f, 0.5f, 0.5f};
  EXPECT_EQ(ScanScores(scores.data(), 3, 1, 0.0f).at(0).class_id, 0);
}

}  // namespace
}  // namespace lattice
