#include "native/scheduler/read_depth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <random>
#include <vector>

namespace lattice {
namespace {

constexpr size_t kLeast = 2;
constexpr size_t kMost = 16;

// So many files at a time, each of which takes so long, give or take.
struct Volume {
  size_t places = 1;
  double file_ms = 20;
  double jitter = 0;
};

// Reads from a volume as fast as the depth lets it, in a time of its own.
class Reader {
 public:
  explicit Reader(unsigned seed = 1) : random_(seed) {}

  // Runs for that time; returns files per millisecond.
  double Run(const Volume& volume, double ms, bool bound = true) {
    std::vector<double> free(volume.places, now_);
    const double end = now_ + ms;
    size_t files = 0;
    while (now_ < end) {
      while (coming_.size() < depth_.depth()) {
        double& place = *std::min_element(free.begin(), free.end());
        const double around = 1 + volume.jitter * (2 * unit_(random_) - 1);
        place = std::max(place, now_) + volume.file_ms * around;
        coming_.push(place);
      }
      now_ = coming_.top();
      coming_.pop();
      ++files;
      depth_sum_ += static_cast<double>(depth_.depth());
      depth_.Came(bound, now_);
    }
    mean_depth_ = depth_sum_ / static_cast<double>(files);
    depth_sum_ = 0;
    return static_cast<double>(files) / ms;
  }

  size_t depth() const { return depth_.depth(); }
  double mean_depth() const { return mean_depth_; }

 private:
  std::mt19937 random_;
  std::uniform_real_distribution<double> unit_{0, 1};
  ReadDepth depth_{kLeast, kMost};
  std::priority_queue<double, std::vector<double>, std::greater<>> coming_;
  double now_ = 0;
  double depth_sum_ = 0;
  double mean_depth_ = 0;
};

TEST(ReadDepthTest, AFarVolumeIsReadAsDeepAsItGoes) {
  Reader reader;
  const Volume far{1000, 100, 0.2};
  reader.Run(far, 3'000);
  EXPECT_GT(reader.Run(far, 60'000), 0.95 * kMost / 100);
}

TEST(ReadDepthTest, AVolumeThatDoesOneFileAtATimeIsNotQueuedAt) {
  Reader reader;
  const Volume one{1, 25, 0.3};
  reader.Run(one, 5'000);
  EXPECT_EQ(reader.depth(), kLeast);
  EXPECT_NEAR(reader.Run(one, 60'000), 1.0 / 25, 0.1 / 25);
  EXPECT_LT(reader.mean_depth(), kLeast + 0.5) << "trials of more take little of the time";
}

TEST(ReadDepthTest, AVolumeThatBecomesFarIsReadDeeperWithinSomeSeconds) {
  Reader reader;
  reader.Run({1, 25, 0.2}, 10'000);
  ASSERT_EQ(reader.depth(), kLeast);
  const Volume far{1000, 100, 0.2};
  reader.Run(far, 2.5 * ReadDepth::kTryAgainMs);
  EXPECT_GT(reader.Run(far, 20'000), 0.9 * kMost / 100);
}

TEST(ReadDepthTest, WhereDecodingDoesNotWaitTheDepthStays) {
  Reader reader;
  reader.Run({1, 25}, 60'000, false);
  EXPECT_EQ(reader.depth(), kMost);
}

TEST(ReadDepthTest, AnyVolumeGivesMostOfWhatItHas) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const Volume volume{1 + random() % 40, 1 + static_cast<double>(random() % 200),
                        static_cast<double>(random() % 5) / 10};
    Reader reader(seed);
    reader.Run(volume, 1'000 * volume.file_ms);
    const double rate = reader.Run(volume, 3'000 * volume.file_ms);
    const double best = static_cast<double>(std::min(volume.places, kMost)) / volume.file_ms;
    EXPECT_GT(rate, 0.7 * best) << seed;
    EXPECT_LE(reader.mean_depth(), std::max(4.0 * static_cast<double>(volume.places), kLeast + 1.0))
        << seed;
  }
}

}  // namespace
}  // namespace lattice
