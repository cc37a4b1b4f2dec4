// The protobuf wire format without a schema: fields in, fields out.
#ifndef LATTICE_MODEL_PROTOBUF_WIRE_H_
#define LATTICE_MODEL_PROTOBUF_WIRE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lattice {

using ByteView = std::span<const uint8_t>;

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kDelimited = 2, kFixed32 = 5 };

// One field of a message. Both spans lie inside the bytes that were read.
struct WireField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t value = 0;  // of a varint or fixed field
  ByteView bytes;      // of a delimited field
  ByteView whole;      // tag and content

  bool delimited() const { return type == WireType::kDelimited; }
  bool varint() const { return type == WireType::kVarint; }
};

// Walks the fields of one message. Never reads outside the bytes, allocates nothing.
class WireReader {
 public:
  explicit WireReader(ByteView bytes) : rest_(bytes) {}

  bool AtEnd() const { return rest_.empty(); }

  // Empty when the bytes break the wire format; the reader must not be used again. Groups count as
  // broken: ONNX does not use them.
  std::optional<WireField> Next();

  // A bare varint, as packed fields hold them.
  std::optional<uint64_t> Varint();

 private:
  std::optional<ByteView> Take(uint64_t size);
  std::optional<uint64_t> Fixed(size_t size);

  ByteView rest_;
};

// Calls `take(value)` for each integer of a field, packed or not, until one returns false.
template <typename Take>
bool ForEachInteger(const WireField& field, Take take) {
  if (field.varint()) return take(static_cast<int64_t>(field.value));
  if (!field.delimited()) return false;
  WireReader reader(field.bytes);
  while (!reader.AtEnd()) {
    const auto value = reader.Varint();
    if (!value || !take(static_cast<int64_t>(*value))) return false;
  }
  return true;
}

inline std::string_view TextOf(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline ByteView BytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// Each appends to `out`, varints in their shortest form.
void AppendVarint(std::string& out, uint64_t value);
void AppendNumber(std::string& out, uint32_t field, uint64_t value);
void AppendBytes(std::string& out, uint32_t field, std::string_view bytes);

}  // namespace lattice

#endif  // LATTICE_MODEL_PROTOBUF_WIRE_H_
