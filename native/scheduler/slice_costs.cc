#include "native/scheduler/slice_costs.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace lattice {
namespace {

constexpr double kWeight = 0.2;
constexpr double kMostChange = 4;
// Twice the images take less than twice the time: the GPU is filled better.
constexpr double kDoubling = 1.7;
constexpr double kFirstGuessMs = 1;

}  // namespace

size_t SliceCosts::BucketOf(size_t images) {
  const auto bucket = static_cast<size_t>(std::bit_width(std::max<size_t>(images, 1) - 1));
  return std::min(bucket, kBuckets - 1);
}

double SliceCosts::FromRow(const Row& row, size_t bucket) {
  for (size_t far = 0; far < kBuckets; ++far) {
    if (far <= bucket && row[bucket - far] > 0) {
      return row[bucket - far] * std::pow(kDoubling, static_cast<double>(far));
    }
    if (bucket + far < kBuckets && row[bucket + far] > 0) {
      return row[bucket + far] / std::pow(kDoubling, static_cast<double>(far));
    }
  }
  return 0;
}

double SliceCosts::PredictMs(size_t place, size_t images) const {
  const size_t bucket = BucketOf(images);
  const double own = FromRow(ms_[place], bucket);
  if (own > 0) return own;
  double fastest = 0;
  for (const Row& row : ms_) {
    const double other = FromRow(row, bucket);
    if (other > 0 && (fastest == 0 || other < fastest)) fastest = other;
  }
  return fastest > 0 ? fastest : kFirstGuessMs * std::pow(kDoubling, static_cast<double>(bucket));
}

void SliceCosts::Observe(size_t place, size_t images, double ms) {
  double& cost = ms_[place][BucketOf(images)];
  if (cost == 0) {
    cost = std::max(ms, 1e-3);
    return;
  }
  const double counted = std::clamp(ms, cost / kMostChange, cost * kMostChange);
  cost += kWeight * (counted - cost);
}

}  // namespace lattice
