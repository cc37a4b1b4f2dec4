#include "native/onnx/onnx_metadata.h"

#include "native/onnx/protobuf_wire.h"

namespace lattice {
namespace {

// Field numbers of onnx.proto.
constexpr uint32_t kGraph = 7;
constexpr uint32_t kMetadataProps = 14;
constexpr uint32_t kEntryKey = 1;
constexpr uint32_t kEntryValue = 2;

bool ReadEntry(ByteView bytes, std::map<std::string, std::string>& metadata) {
  WireReader reader(bytes);
  std::string key;
  std::string value;
  while (!reader.AtEnd()) {
    const auto field = reader.Next();
    if (!field) return false;
    if (field->delimited() && field->number == kEntryKey) key = TextOf(field->bytes);
    if (field->delimited() && field->number == kEntryValue) value = TextOf(field->bytes);
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
    if (field->number == kGraph && field->delimited()) has_graph = true;
    if (field->number == kMetadataProps) {
      if (!field->delimited() || !ReadEntry(field->bytes, metadata)) return Damaged();
    }
  }
  if (!has_graph) return Damaged();
  return metadata;
}

}  // namespace lattice
