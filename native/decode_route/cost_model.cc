#include "native/decode_route/cost_model.h"

#include <algorithm>

namespace lattice {
namespace {

constexpr double kNewWeight = 0.1;
constexpr double kMostSurprise = 4;
constexpr double kLeastMs = 1e-3;
constexpr int kFitRounds = 2000;
// Pulls a part that the samples leave open towards the start.
constexpr double kPrior = 1e-4;

}  // namespace

DecodeCost FitCost(std::span<const CostSample> samples, const DecodeCost& start) {
  const std::array<double, 3> before = {start.fixed, start.per_megapixel, start.per_kilobyte};
  std::array<double, 3> parts = before;
  // One part after the other, each at its best for the other two: convex, so it ends at the best.
  for (int round = 0; round < kFitRounds; ++round) {
    for (size_t part = 0; part < parts.size(); ++part) {
      double weight = 0;
      double wanted = 0;
      for (const CostSample& sample : samples) {
        const std::array<double, 3> features = {1, sample.megapixels, sample.kilobytes};
        const double ms = std::max(sample.ms, kLeastMs);
        double rest = 1;
        for (size_t i = 0; i < parts.size(); ++i) {
          if (i != part) rest -= parts[i] * features[i] / ms;
        }
        const double feature = features[part] / ms;
        weight += feature * feature;
        wanted += feature * rest;
      }
      if (weight == 0) continue;
      const double prior = kPrior * weight;
      parts[part] = std::max(0.0, (wanted + prior * before[part]) / (weight + prior));
    }
  }
  return {parts[0], parts[1], parts[2]};
}

CostClass CostClassOf(const EncodedImage& encoded) {
  if (encoded.format != ImageFormat::kJpeg) return CostClass::kOther;
  return encoded.baseline_jpeg() ? CostClass::kBaselineJpeg : CostClass::kProgressiveJpeg;
}

double CostModel::PredictMs(const EncodedImage& encoded) const {
  const double base = cost_.Of(encoded.megapixels(), encoded.kilobytes());
  return std::max(kLeastMs, base * speed_[static_cast<size_t>(CostClassOf(encoded))]);
}

void CostModel::Observe(const EncodedImage& encoded, double ms) {
  const double predicted = PredictMs(encoded);
  const double surprise = std::clamp(ms / predicted, 1 / kMostSurprise, kMostSurprise);
  speed_[static_cast<size_t>(CostClassOf(encoded))] *= 1 + kNewWeight * (surprise - 1);
}

void CostModel::Calibrate(std::span<const CostSample> samples) {
  cost_ = FitCost(samples, cost_);
  speed_.fill(1);
}

}  // namespace lattice
