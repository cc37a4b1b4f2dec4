// Writes the smallest ONNX networks: the output is the input in another shape, so every value is
// known.
#ifndef LATTICE_TEST_MODEL_ONNX_WRITER_H_
#define LATTICE_TEST_MODEL_ONNX_WRITER_H_

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace lattice::test {

inline std::string Varint(uint64_t value) {
  std::string out;
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  return out + static_cast<char>(value);
}

inline std::string Number(int field, uint64_t value) {
  return Varint(static_cast<uint64_t>(field) << 3) + Varint(value);
}

inline std::string Bytes(int field, const std::string& bytes) {
  return Varint(static_cast<uint64_t>(field) << 3 | 2) + Varint(bytes.size()) + bytes;
}

// -1 leaves a dimension open.
inline std::string TensorPort(const std::string& name, int element_type,
                              const std::vector<int64_t>& dims) {
  std::string shape;
  for (const int64_t dim : dims) {
    shape += Bytes(1, dim < 0 ? Bytes(2, "open") : Number(1, static_cast<uint64_t>(dim)));
  }
  const std::string tensor = Number(1, static_cast<uint64_t>(element_type)) + Bytes(2, shape);
  return Bytes(1, name) + Bytes(2, Bytes(1, tensor));
}

// input [dims] -> Reshape -> output. A 0 in `output` keeps the input's dimension.
inline std::string ReshapeModel(const std::vector<int64_t>& input,
                                const std::vector<int64_t>& output,
                                const std::map<std::string, std::string>& metadata,
                                int element_type = 1) {
  std::string raw(output.size() * sizeof(int64_t), '\0');
  std::memcpy(raw.data(), output.data(), raw.size());
  const std::string target =
      Number(1, output.size()) + Number(2, 7) + Bytes(8, "target") + Bytes(9, raw);
  const std::string node =
      Bytes(1, "images") + Bytes(1, "target") + Bytes(2, "output0") + Bytes(4, "Reshape");
  const std::vector<int64_t> open(output.size(), -1);
  const std::string graph = Bytes(1, node) + Bytes(2, "g") + Bytes(5, target) +
                            Bytes(11, TensorPort("images", element_type, input)) +
                            Bytes(12, TensorPort("output0", element_type, open));
  std::string model = Number(1, 8) + Bytes(7, graph) + Bytes(8, Bytes(1, "") + Number(2, 13));
  for (const auto& [key, value] : metadata) model += Bytes(14, Bytes(1, key) + Bytes(2, value));
  return model;
}

}  // namespace lattice::test

#endif  // LATTICE_TEST_MODEL_ONNX_WRITER_H_
