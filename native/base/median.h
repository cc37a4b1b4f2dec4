// The median of measurements.
#ifndef LATTICE_BASE_MEDIAN_H_
#define LATTICE_BASE_MEDIAN_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lattice {

// Of an even number of samples, the upper of the two in the middle. Precondition: not empty.
inline double Median(std::vector<double> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

}  // namespace lattice

#endif  // LATTICE_BASE_MEDIAN_H_
