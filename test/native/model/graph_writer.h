// Writes small ONNX graphs for tests, node by node.
#ifndef LATTICE_TEST_MODEL_GRAPH_WRITER_H_
#define LATTICE_TEST_MODEL_GRAPH_WRITER_H_

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "native/model/onnx_tensor.h"
#include "test/native/model/onnx_writer.h"

namespace lattice::test {

template <typename Value>
std::string RawTensor(const std::string& name, int type, const std::vector<int64_t>& dims,
                      const std::vector<Value>& values) {
  std::string raw(values.size() * sizeof(Value), '\0');
  if (!raw.empty()) std::memcpy(raw.data(), values.data(), raw.size());
  std::string tensor;
  for (const int64_t dim : dims) tensor += Number(1, static_cast<uint64_t>(dim));
  return tensor + Number(2, static_cast<uint64_t>(type)) + Bytes(8, name) + Bytes(9, raw);
}

inline std::string Floats(const std::string& name, const std::vector<int64_t>& dims,
                          const std::vector<float>& values) {
  return RawTensor(name, kFloat, dims, values);
}

inline std::string Integer(const std::string& name, int64_t value) {
  return Bytes(5, Bytes(1, name) + Number(3, static_cast<uint64_t>(value)) + Number(20, 2));
}

inline std::string Integers(const std::string& name, const std::vector<int64_t>& values) {
  std::string attribute = Bytes(1, name);
  for (const int64_t value : values) attribute += Number(8, static_cast<uint64_t>(value));
  return Bytes(5, attribute + Number(20, 7));
}

inline std::string TensorValue(const std::string& name, const std::string& tensor) {
  return Bytes(5, Bytes(1, name) + Bytes(5, tensor) + Number(20, 4));
}

class GraphWriter {
 public:
  // `attributes` are of Integer, Integers or TensorValue, joined. The node's name is its first
  // output's.
  GraphWriter& Node(const std::string& op, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs, const std::string& attributes = "") {
    std::string node;
    for (const auto& input : inputs) node += Bytes(1, input);
    for (const auto& output : outputs) node += Bytes(2, output);
    nodes_ += Bytes(1, node + Bytes(3, outputs.at(0)) + Bytes(4, op) + attributes);
    return *this;
  }

  GraphWriter& Initializer(const std::string& tensor) {
    initializers_ += Bytes(5, tensor);
    return *this;
  }

  GraphWriter& ValueInfo(const std::string& name, int type) {
    value_info_ += Bytes(13, TensorPort(name, type, {}));
    return *this;
  }

  // Beside those of Model.
  GraphWriter& Input(const std::string& port) {
    further_inputs_ += Bytes(11, port);
    return *this;
  }
  GraphWriter& Output(const std::string& port) {
    further_outputs_ += Bytes(12, port);
    return *this;
  }

  // Input `images` [1, 3, 8, 8], output `output0`.
  std::string Model(int input_type = kFloat, int output_type = kFloat, uint64_t opset = 17) const {
    return Model(TensorPort("images", input_type, {1, 3, 8, 8}),
                 TensorPort("output0", output_type, {-1}), {}, opset);
  }

  std::string Model(const std::string& input, const std::string& output,
                    const std::map<std::string, std::string>& metadata, uint64_t opset = 17) const {
    const std::string graph = nodes_ + Bytes(2, "g") + initializers_ + Bytes(11, input) +
                              further_inputs_ + Bytes(12, output) + further_outputs_ + value_info_;
    std::string model = Number(1, 8) + Bytes(7, graph) + Bytes(8, Bytes(1, "") + Number(2, opset));
    for (const auto& [key, value] : metadata) model += Bytes(14, Bytes(1, key) + Bytes(2, value));
    return model;
  }

 private:
  std::string nodes_;
  std::string initializers_;
  std::string further_inputs_;
  std::string further_outputs_;
  std::string value_info_;
};

// Numbers from -reach to reach, the same for a seed.
inline std::vector<float> Noise(int count, float reach, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> any(-reach, reach);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = any(random);
  return values;
}

inline std::string FileBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace lattice::test

#endif  // LATTICE_TEST_MODEL_GRAPH_WRITER_H_
