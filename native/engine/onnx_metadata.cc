#include "native/engine/onnx_metadata.h"

#include <optional>
#include <string_view>

namespace lattice {
namespace {

// Field numbers of onnx.proto.
constexpr uint32_t kGraph = 7;
constexpr uint32_t kMetadataProps = 14;
constexpr uint32_t kEntryKey = 1;
constexpr uint32_t kEntryValue = 2;

// One field of a message; `bytes` is set for length-delimited fields only.
struct Field {
  uint32_t number = 0;
  bool delimited = false;
  std::span<const uint8_t> bytes;
};

class WireReader {
 public:
  explicit WireReader(std::span<const uint8_t> bytes) : rest_(bytes) {}

  bool AtEnd() const { return rest_.empty(); }

  // Empty when the bytes break the wire format.
  std::optional<Field> Next() {
    const auto tag = Varint();
    if (!tag || *tag >> 3 == 0 || *tag >> 3 > 0x1fffffff) return std::nullopt;
    Field field;
    field.number = static_cast<uint32_t>(*tag >> 3);
    switch (*tag & 7) {
      case 0:
        if (!Varint()) return std::nullopt;
        return field;
      case 1:
        return Take(8) ? std::optional(field) : std::nullopt;
      case 2: {
        const auto size = Varint();
        if (!size) return std::nullopt;
        const auto bytes = Take(*size);
        if (!bytes) return std::nullopt;
        field.delimited = true;
        field.bytes = *bytes;
        return field;
      }
      case 5:
        return Take(4) ? std::optional(field) : std::nullopt;
      default:
        return std::nullopt;  // groups and reserved types never occur in ONNX
    }
  }

 private:
  std::optional<uint64_t> Varint() {
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

  std::optional<std::span<const uint8_t>> Take(uint64_t size) {
    if (size > rest_.size()) return std::nullopt;
    const auto taken = rest_.first(static_cast<size_t>(size));
    rest_ = rest_.subspan(static_cast<size_t>(size));
    return taken;
  }

  std::span<const uint8_t> rest_;
};

std::string Text(std::span<const uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }

bool ReadEntry(std::span<const uint8_t> bytes, std::map<std::string, std::string>& metadata) {
  WireReader reader(bytes);
  std::string key;
  std::string value;
  while (!reader.AtEnd()) {
    const auto field = reader.Next();
    if (!field) return false;
    if (field->delimited && field->number == kEntryKey) key = Text(field->bytes);
    if (field->delimited && field->number == kEntryValue) value = Text(field->bytes);
  }
  metadata[key] = value;
  return true;
}

Status Damaged() {
  return {StatusCode::kInvalidModel,
          "The file is not a complete ONNX model: it is damaged, cut short or of another format."};
}

}  // namespace

Result<std::map<std::string, std::string>> ReadOnnxMetadata(std::span<const uint8_t> file) {
  if (file.empty()) return Status(StatusCode::kInvalidModel, "The model file is empty.");
  std::map<std::string, std::string> metadata;
  bool has_graph = false;
  WireReader reader(file);
  while (!reader.AtEnd()) {
    const auto field = reader.Next();
    if (!field) return Damaged();
    if (field->number == kGraph && field->delimited) has_graph = true;
    if (field->number == kMetadataProps) {
      if (!field->delimited || !ReadEntry(field->bytes, metadata)) return Damaged();
    }
  }
  if (!has_graph) return Damaged();
  return metadata;
}

}  // namespace lattice
