#include "native/model/onnx_tensor.h"

#include <array>
#include <bit>
#include <cstring>

#include "native/model/half_float.h"
#include "native/model/onnx_fields.h"

namespace lattice {
namespace {

static_assert(std::endian::native == std::endian::little, "raw_data is little-endian");

// Field numbers of TensorProto, beside those of onnx_fields.h.
constexpr uint32_t kDims = 1;
constexpr uint32_t kDataType = 2;
constexpr uint32_t kSegment = 3;
constexpr uint32_t kFloatData = 4;
constexpr uint32_t kInt32Data = 5;
constexpr uint32_t kInt64Data = 7;

constexpr size_t kMaxRank = 64;

constexpr std::array<std::string_view, 24> kTypeNames = {
    "UNDEFINED",      "FLOAT",      "UINT8",          "INT8",       "UINT16",   "INT16",
    "INT32",          "INT64",      "STRING",         "BOOL",       "FLOAT16",  "DOUBLE",
    "UINT32",         "UINT64",     "COMPLEX64",      "COMPLEX128", "BFLOAT16", "FLOAT8E4M3FN",
    "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "UINT4",      "INT4",     "FLOAT4E2M1"};

Status Damaged(std::string_view name) {
  return {StatusCode::kInvalidModel,
          "The tensor '" + std::string(name.substr(0, 80)) + "' of the model is damaged."};
}

bool ReadDims(const WireField& field, std::vector<int64_t>& dims) {
  return ForEachInteger(field, [&](int64_t dim) {
    dims.push_back(dim);
    return dims.size() <= kMaxRank;
  });
}

// Empty when the product overflows or a side is negative.
std::optional<size_t> ElementCount(const OnnxTensor& tensor) {
  size_t count = 1;
  for (const int64_t dim : tensor.dims) {
    if (dim < 0 || __builtin_mul_overflow(count, static_cast<size_t>(dim), &count)) {
      return std::nullopt;
    }
  }
  return count;
}

// Little-endian bytes of float_data, packed or not.
bool AppendFloatData(const WireField& field, std::string& raw) {
  if (field.delimited()) {
    raw += TextOf(field.bytes);
    return true;
  }
  if (field.type != WireType::kFixed32) return false;
  const auto bits = static_cast<uint32_t>(field.value);
  raw.append(reinterpret_cast<const char*>(&bits), sizeof(bits));
  return true;
}

bool AppendHalfData(const WireField& field, std::string& raw) {
  return ForEachInteger(field, [&](int64_t value) {
    // Little-endian: the low bytes come first.
    raw.append(reinterpret_cast<const char*>(&value), sizeof(uint16_t));
    return true;
  });
}

// The numbers of a FLOAT or FLOAT16 tensor as raw_data has them, whichever field holds them; they
// fill the shape.
Result<std::string> RawData(const OnnxTensor& tensor) {
  const bool halves = tensor.type == kFloat16;
  const size_t element = halves ? sizeof(uint16_t) : sizeof(float);
  const auto count = ElementCount(tensor);
  if (!count) return Damaged(tensor.name);
  std::string raw;
  WireReader reader(tensor.message.bytes());
  while (!reader.AtEnd()) {
    const auto field = reader.Next();
    if (!field) return Damaged(tensor.name);
    if (field->number == onnx::kRawData && field->delimited()) {
      raw = TextOf(field->bytes);
    } else if (field->number == (halves ? kInt32Data : kFloatData)) {
      const bool read = halves ? AppendHalfData(*field, raw) : AppendFloatData(*field, raw);
      if (!read) return Damaged(tensor.name);
    }
  }
  if (raw.size() % element != 0 || raw.size() / element != *count) return Damaged(tensor.name);
  return raw;
}

template <typename Stored, typename Value, typename Convert>
std::vector<Value> Converted(const std::string& raw, Convert convert) {
  std::vector<Value> values(raw.size() / sizeof(Stored));
  for (size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, raw.data() + i * sizeof(Stored), sizeof(Stored));
    values[i] = convert(stored);
  }
  return values;
}

bool HoldsNumbers(uint32_t field) {
  return (field >= kSegment && field <= kInt64Data) || field == onnx::kRawData || field == 10 ||
         field == 11;
}

OnnxTensor WithRaw(const OnnxTensor& like, std::string name, int32_t type, std::string_view raw) {
  std::string message;
  message.reserve(raw.size() + name.size() + 64);
  for (const int64_t dim : like.dims) AppendNumber(message, kDims, static_cast<uint64_t>(dim));
  AppendNumber(message, kDataType, static_cast<uint64_t>(type));
  AppendBytes(message, onnx::kTensorName, name);
  AppendBytes(message, onnx::kRawData, raw);
  WireReader reader(like.message.bytes());
  while (!reader.AtEnd()) {
    const auto field = reader.Next();
    if (!field) break;  // ReadTensor has walked these bytes before
    const uint32_t number = field->number;
    if (number == kDims || number == kDataType || number == onnx::kTensorName ||
        HoldsNumbers(number))
      continue;
    message += TextOf(field->whole);
  }
  return {std::move(name), type, like.dims, Message(std::move(message))};
}

template <typename Stored>
void Append(std::string& raw, Stored value) {
  raw.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

std::string TypeName(int32_t type) {
  if (type < 0 || static_cast<size_t>(type) >= kTypeNames.size()) return std::to_string(type);
  return std::string(kTypeNames[static_cast<size_t>(type)]);
}

Result<OnnxTensor> ReadTensor(ByteView bytes) {
  OnnxTensor tensor;
  tensor.message = Message(bytes);
  bool elsewhere = false;
  WireReader reader(bytes);
  while (!reader.AtEnd()) {
    const auto field = reader.Next();
    if (!field) return Damaged(tensor.name);
    switch (field->number) {
      case kDims:
        if (!ReadDims(*field, tensor.dims)) return Damaged(tensor.name);
        break;
      case kDataType:
        tensor.type = static_cast<int32_t>(field->value);
        break;
      case onnx::kTensorName:
        tensor.name = TextOf(field->bytes);
        break;
      case kSegment:
        return Damaged(tensor.name);
      case onnx::kExternalData:
        elsewhere = true;
        break;
      case onnx::kDataLocation:
        elsewhere = elsewhere || field->value != 0;
        break;
      default:
        break;
    }
  }
  // ReadModelFile takes in what lies beside a file.
  if (elsewhere) return Damaged(tensor.name);
  return tensor;
}

Result<std::vector<float>> ReadFloats(const OnnxTensor& tensor) {
  if (!IsFloating(tensor.type)) return Damaged(tensor.name);
  const auto raw = RawData(tensor);
  if (!raw.ok()) return raw.status();
  if (tensor.type == kFloat) return Converted<float, float>(*raw, [](float v) { return v; });
  return Converted<uint16_t, float>(*raw, FromHalfBits);
}

std::optional<std::vector<int64_t>> ReadIntegers(const OnnxTensor& tensor) {
  if (tensor.type != kInt64) return std::nullopt;
  std::vector<int64_t> values;
  WireReader reader(tensor.message.bytes());
  while (!reader.AtEnd()) {
    const auto field = reader.Next();
    if (!field) return std::nullopt;
    bool read = true;
    if (field->number == onnx::kRawData && field->delimited()) {
      values.resize(field->bytes.size() / sizeof(int64_t));
      if (!values.empty()) {
        std::memcpy(values.data(), field->bytes.data(), values.size() * sizeof(int64_t));
      }
      read = field->bytes.size() % sizeof(int64_t) == 0;
    } else if (field->number == kInt64Data) {
      read = ForEachInteger(*field, [&](int64_t value) {
        values.push_back(value);
        return true;
      });
    }
    if (!read) return std::nullopt;
  }
  if (ElementCount(tensor) != values.size()) return std::nullopt;
  return values;
}

OnnxTensor MakeTensor(std::string name, int32_t type, std::vector<int64_t> dims,
                      std::string_view raw) {
  OnnxTensor like;
  like.dims = std::move(dims);
  return WithRaw(like, std::move(name), type, raw);
}

OnnxTensor WithFloats(const OnnxTensor& like, std::string name, const std::vector<float>& values) {
  std::string raw;
  raw.reserve(values.size() * sizeof(float));
  for (const float value : values) Append(raw, value);
  return WithRaw(like, std::move(name), kFloat, raw);
}

OnnxTensor WithHalves(const OnnxTensor& like, std::string name, const std::vector<float>& values) {
  std::string raw;
  raw.reserve(values.size() * sizeof(uint16_t));
  for (const float value : values) Append(raw, ToHalfBits(value));
  return WithRaw(like, std::move(name), kFloat16, raw);
}

}  // namespace lattice
