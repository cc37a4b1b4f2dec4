// The middle of measured samples.
#ifndef LATTICE_BASE_MEDIAN_H_
#define LATTICE_BASE_MEDIAN_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lattice {

// The upper one of the two in the middle. Precondition: there are samples.
inline double Median(std::vector<double> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

}  // namespace lattice

#endif  // LATTICE_BASE_MEDIAN_H_
