// Width and height of a network's input, in pixels.
#ifndef LATTICE_MODEL_INPUT_SIZE_H_
#define LATTICE_MODEL_INPUT_SIZE_H_

#include <cstdint>

namespace lattice {

struct InputSize {
  int width = 0;
  int height = 0;

  int64_t area() const { return int64_t{width} * height; }
  bool operator==(const InputSize&) const = default;
};

}  // namespace lattice

#endif  // LATTICE_MODEL_INPUT_SIZE_H_
