#include "native/model/protobuf_wire.h"

namespace lattice {
namespace {

constexpr uint64_t kMaxFieldNumber = 0x1fffffff;

}  // namespace

std::optional<WireField> WireReader::Next() {
  const ByteView start = rest_;
  const auto tag = Varint();
  if (!tag || *tag >> 3 == 0 || *tag >> 3 > kMaxFieldNumber) return std::nullopt;
  WireField field;
  field.number = static_cast<uint32_t>(*tag >> 3);
  field.type = static_cast<WireType>(*tag & 7);
  std::optional<uint64_t> value;
  switch (field.type) {
    case WireType::kVarint:
      value = Varint();
      break;
    case WireType::kFixed64:
      value = Fixed(8);
      break;
    case WireType::kFixed32:
      value = Fixed(4);
      break;
    case WireType::kDelimited: {
      value = Varint();
      const auto bytes = value ? Take(*value) : std::nullopt;
      if (!bytes) return std::nullopt;
      field.bytes = *bytes;
      break;
    }
    default:
      return std::nullopt;
  }
  if (!value) return std::nullopt;
  field.value = *value;
  field.whole = start.first(start.size() - rest_.size());
  return field;
}

std::optional<uint64_t> WireReader::Varint() {
  uint64_t value = 0;
  for (size_t i = 0; i < 10 && i < rest_.size(); ++i) {
    value |= static_cast<uint64_t>(rest_[i] & 0x7f) << (7 * i);
    if ((rest_[i] & 0x80) == 0) {
      rest_ = rest_.subspan(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

std::optional<ByteView> WireReader::Take(uint64_t size) {
  if (size > rest_.size()) return std::nullopt;
  const auto taken = rest_.first(static_cast<size_t>(size));
  rest_ = rest_.subspan(static_cast<size_t>(size));
  return taken;
}

std::optional<uint64_t> WireReader::Fixed(size_t size) {
  const auto bytes = Take(size);
  if (!bytes) return std::nullopt;
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) value |= static_cast<uint64_t>((*bytes)[i]) << (8 * i);
  return value;
}

void AppendVarint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(static_cast<uint8_t>(value | 0x80));
    value >>= 7;
  }
  out += static_cast<char>(value);
}

void AppendNumber(std::string& out, uint32_t field, uint64_t value) {
  AppendVarint(out, static_cast<uint64_t>(field) << 3);
  AppendVarint(out, value);
}

void AppendBytes(std::string& out, uint32_t field, std::string_view bytes) {
  AppendVarint(out, static_cast<uint64_t>(field) << 3 | 2);
  AppendVarint(out, bytes.size());
  out += bytes;
}

}  // namespace lattice
