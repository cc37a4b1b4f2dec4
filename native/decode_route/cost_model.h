// How long a route takes for an image: calibrated, then corrected by every image that it decodes.
#ifndef LATTICE_DECODE_ROUTE_COST_MODEL_H_
#define LATTICE_DECODE_ROUTE_COST_MODEL_H_

#include <array>
#include <cstddef>
#include <span>

#include "native/decode_route/decode_request.h"

namespace lattice {

// Milliseconds of one image on one place.
struct DecodeCost {
  double fixed = 0.05;
  double per_megapixel = 2.5;
  double per_kilobyte = 0.004;

  double Of(double megapixels, double kilobytes) const {
    return fixed + per_megapixel * megapixels + per_kilobyte * kilobytes;
  }
};

struct CostSample {
  double megapixels = 0;
  double kilobytes = 0;
  double ms = 0;
};

// The cost, none of its parts below zero, with the least squared relative error over `samples`;
// `start` where there are none. Samples of one size cannot tell the parts from each other: then the
// sum is nearly right and the parts lean towards `start`.
DecodeCost FitCost(std::span<const CostSample> samples, const DecodeCost& start);

// Files that cost differently for equal size and bytes.
enum class CostClass { kBaselineJpeg, kProgressiveJpeg, kOther };
inline constexpr size_t kCostClasses = 3;

CostClass CostClassOf(const EncodedImage& encoded);

// Not thread-safe.
class CostModel {
 public:
  explicit CostModel(const DecodeCost& cost) : cost_(cost) { speed_.fill(1); }

  double PredictMs(const EncodedImage& encoded) const;
  // Exponentially weighted: about ten images forget a speed that was. A single image counts for at
  // most four times what was predicted and at least a quarter, since its thread may have lost the
  // core for a while.
  void Observe(const EncodedImage& encoded, double ms);
  // From here on the samples' fit is the prediction.
  void Calibrate(std::span<const CostSample> samples);

 private:
  DecodeCost cost_;
  std::array<double, kCostClasses> speed_;  // measured / cost_
};

}  // namespace lattice

#endif  // LATTICE_DECODE_ROUTE_COST_MODEL_H_
