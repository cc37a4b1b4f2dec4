// Small valid graphs by the thousand.
#ifndef LATTICE_TEST_GPU_ONNX_RANDOM_GRAPH_H_
#define LATTICE_TEST_GPU_ONNX_RANDOM_GRAPH_H_

#include <random>
#include <string>
#include <vector>

#include "test/native/model/graph_writer.h"

namespace lattice::test {

// A valid graph of random nodes, as exporters could write it.
class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_(seed) {}

  std::string Model() {
    data_ = {"images"};
    const size_t nodes = 3 + random_() % 12;
    for (size_t i = 0; i < nodes; ++i) AddNode();
    graph_.Node("Concat", {Pick(), Pick(), data_.back()}, {"output0"}, Integer("axis", 1));
    return graph_.Model(random_() % 4 == 0 ? kFloat16 : kFloat);
  }

 private:
  std::string Pick() { return data_[random_() % data_.size()]; }
  std::string Name() { return std::to_string(next_++); }

  std::string Constant(const std::vector<int64_t>& dims, size_t count) {
    const float magnitude[] = {1.0f, 100.0f, 1e6f, 1e-9f};
    const std::vector<float> values(count, magnitude[random_() % 8 < 6 ? 0 : random_() % 4]);
    const std::string name = Name();
    if (random_() % 3 == 0) {
      graph_.Node("Constant", {}, {name}, TensorValue("value", Floats("", dims, values)));
    } else if (random_() % 3 == 0) {
      const std::vector<uint16_t> halves(count, 0x3c00);
      graph_.Initializer(RawTensor(name + ".half", kFloat16, dims, halves));
      graph_.Node("Cast", {name + ".half"}, {name}, Integer("to", kFloat));
    } else {
      graph_.Initializer(Floats(name, dims, values));
    }
    constants_.push_back(name);
    return name;
  }

  void AddNode() {
    const std::string made = Name();
    switch (random_() % 8) {
      case 0:
      case 1: {
        const auto channels = static_cast<int64_t>(1 + random_() % 2);
        const std::string weights = Constant({channels, 1, 1, 1}, static_cast<size_t>(channels));
        graph_.Node("Conv", {Pick(), weights}, {made});
        break;
      }
      case 2:
        graph_.Node("Relu", {Pick()}, {made});
        break;
      case 3:
        graph_.Node("Mul", {Pick(), Pick()}, {made});
        break;
      case 4: {
        const bool reuse = !constants_.empty() && random_() % 2 == 0;
        const std::string constant =
            reuse ? constants_[random_() % constants_.size()] : Constant({}, 1);
        graph_.Node("Add", {Pick(), constant}, {made});
        break;
      }
      case 5:
        graph_.Node("Cast", {Pick()}, {made}, Integer("to", random_() % 2 == 0 ? 1 : 10));
        break;
      case 6: {
        graph_.Node("Shape", {Pick()}, {made + ".shape"});
        graph_.Node("Cast", {made + ".shape"}, {made + ".real"}, Integer("to", kFloat));
        graph_.Node("Add", {Pick(), made + ".real"}, {made});
        break;
      }
      default: {
        graph_.Node("Split", {Pick()}, {made, made + ".rest"});
        data_.push_back(made + ".rest");
        break;
      }
    }
    data_.push_back(made);
  }

  std::mt19937 random_;
  GraphWriter graph_;
  int next_ = 0;
  std::vector<std::string> data_;
  std::vector<std::string> constants_;
};

}  // namespace lattice::test

#endif  // LATTICE_TEST_GPU_ONNX_RANDOM_GRAPH_H_
