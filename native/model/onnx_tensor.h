// One tensor of an ONNX file and its numbers.
#ifndef LATTICE_MODEL_ONNX_TENSOR_H_
#define LATTICE_MODEL_ONNX_TENSOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "native/base/status.h"
#include "native/model/protobuf_wire.h"

namespace lattice {

// TensorProto.DataType
enum ElementType : int32_t {
  kNoType = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kInt32 = 6,
  kInt64 = 7,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
};

// "FLOAT16", as in onnx.proto; the number for an unknown type.
std::string TypeName(int32_t type);

// FLOAT and FLOAT16, the types that the conversion chooses from.
inline bool IsFloating(int32_t type) { return type == kFloat || type == kFloat16; }

// A message as it was read, or a new one.
class Message {
 public:
  Message() = default;
  explicit Message(ByteView read) : read_(read) {}  // the bytes must outlive it
  explicit Message(std::string own) : own_(std::move(own)) {}

  ByteView bytes() const { return own_.empty() ? read_ : BytesOf(own_); }
  std::string_view text() const { return TextOf(bytes()); }

 private:
  ByteView read_;
  std::string own_;
};

struct OnnxTensor {
  std::string name;
  int32_t type = kNoType;
  std::vector<int64_t> dims;
  Message message;  // the whole TensorProto, its numbers included
};

// Refers to `bytes`. kInvalidModel for a damaged message, and for data in other files and
// segments.
Result<OnnxTensor> ReadTensor(ByteView bytes);

// All numbers in order, of a FLOAT or FLOAT16 tensor (FLOAT16 is converted exactly). Reads
// little-endian raw data and the typed fields. kInvalidModel for another type or where the data
// does not fill the shape; allocates no more than the data needs.
Result<std::vector<float>> ReadFloats(const OnnxTensor& tensor);

// All numbers in order of an INT64 tensor, such as a shape; nothing of another or a damaged one.
std::optional<std::vector<int64_t>> ReadIntegers(const OnnxTensor& tensor);

// A new tensor; `raw` holds its numbers in order, little-endian.
OnnxTensor MakeTensor(std::string name, int32_t type, std::vector<int64_t> dims,
                      std::string_view raw);

// A new tensor with raw data, and with everything else of `like` (shape, documentation, unknown
// fields). `like` has the same count of numbers.
OnnxTensor WithFloats(const OnnxTensor& like, std::string name, const std::vector<float>& values);
// Rounds to the nearest half, ties to even.
OnnxTensor WithHalves(const OnnxTensor& like, std::string name, const std::vector<float>& values);

}  // namespace lattice

#endif  // LATTICE_MODEL_ONNX_TENSOR_H_
