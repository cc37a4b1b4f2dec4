// Models of foreign layouts: what the tests of each of them ask.
#ifndef LATTICE_TEST_LAYOUTS_LAYOUT_CHECKS_H_
#define LATTICE_TEST_LAYOUTS_LAYOUT_CHECKS_H_

#include <cmath>
#include <openvino/openvino.hpp>
#include <string>
#include <vector>

#include "native/layouts/known_layout.h"
#include "native/model/model_description.h"
#include "test/native/gpu/tensorrt/network_runner.h"
#include "test/native/model/graph_writer.h"

namespace lattice::test {

inline ModelInfo Described(const std::string& names = "['car', 'bus']") {
  return *DescribeMetadata({{"names", names}});
}

inline bool IsLeft(const std::string& file, ModelInfo info) {
  return InKnownLayout(file, &info) == file && !info.stretched;
}

// Values from 0 to 1.
inline std::vector<float> Picture(size_t size) {
  std::vector<float> picture = Noise(size, 1, 77);
  for (float& value : picture) value = std::abs(value);
  return picture;
}

inline std::vector<float> OutputOf(const std::string& file, const ov::Shape& input,
                                   const std::vector<float>& pixels) {
  return NetworkRunner(file, input).Run(pixels).values[0];
}

}  // namespace lattice::test

#endif  // LATTICE_TEST_LAYOUTS_LAYOUT_CHECKS_H_
