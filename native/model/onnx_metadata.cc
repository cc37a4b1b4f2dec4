#include "native/model/onnx_metadata.h"

#include <sys/stat.h>

#include <fstream>
#include <optional>

#include "native/model/class_names.h"
#include "native/model/onnx_fields.h"
#include "native/model/protobuf_wire.h"

namespace lattice {
namespace {

constexpr size_t kMaxOutlineBytes = 16 << 20;

bool ReadEntry(ByteView bytes, std::map<std::string, std::string>& metadata) {
  WireReader reader(bytes);
  std::string key;
  std::string value;
  while (!reader.AtEnd()) {
    const auto field = reader.Next();
    if (!field) return false;
    if (field->delimited() && field->number == onnx::kEntryKey) key = TextOf(field->bytes);
    if (field->delimited() && field->number == onnx::kEntryValue) value = TextOf(field->bytes);
  }
  metadata[key] = value;
  return true;
}

// Reads a varint and appends its bytes to `copy`.
std::optional<uint64_t> TakeVarint(std::istream& file, std::string* copy) {
  const size_t start = copy->size();
  char byte = 0;
  do {
    if (!file.get(byte)) return std::nullopt;
    *copy += byte;
  } while ((byte & 0x80) != 0 && copy->size() < start + 10);
  return WireReader(BytesOf(std::string_view(*copy).substr(start))).Varint();
}

// The outermost message with its metadata, and with every other delimited field emptied: a file has
// up to 2 GiB of weights. Empty when the file ends early or has more than any export.
std::optional<std::string> OutlineOf(std::istream& file, uint64_t size) {
  std::string outline;
  while (file.peek() != std::char_traits<char>::eof()) {
    const auto tag = TakeVarint(file, &outline);
    if (!tag || outline.size() > kMaxOutlineBytes) return std::nullopt;
    const auto type = static_cast<WireType>(*tag & 7);
    std::string length_bytes;
    uint64_t length = type == WireType::kFixed64 ? 8 : 4;
    if (type == WireType::kVarint) {
      if (!TakeVarint(file, &outline)) return std::nullopt;
      continue;
    }
    if (type == WireType::kDelimited) {
      const auto given = TakeVarint(file, &length_bytes);
      if (!given) return std::nullopt;
      length = *given;
    }
    const bool kept = type != WireType::kDelimited || *tag >> 3 == onnx::kMetadataProps;
    if (length > size - static_cast<uint64_t>(file.tellg()) ||
        (kept && length > kMaxOutlineBytes)) {
      return std::nullopt;
    }
    if (kept) {
      outline += length_bytes;
      outline.resize(outline.size() + length);
      if (!file.read(&*outline.end() - length, static_cast<std::streamsize>(length))) {
        return std::nullopt;
      }
    } else {
      outline += '\0';
      file.seekg(static_cast<std::streamoff>(length), std::ios::cur);
    }
  }
  return outline;
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
    if (field->number == onnx::kGraph && field->delimited()) has_graph = true;
    if (field->number == onnx::kMetadataProps) {
      if (!field->delimited() || !ReadEntry(field->bytes, metadata)) return Damaged();
    }
  }
  if (!has_graph) return Damaged();
  return metadata;
}

void AppendMetadata(std::string& file, std::string_view key, std::string_view value) {
  std::string entry;
  AppendBytes(entry, onnx::kEntryKey, key);
  AppendBytes(entry, onnx::kEntryValue, value);
  AppendBytes(file, onnx::kMetadataProps, entry);
}

Result<ModelDescription> DescribeModelFile(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) {
    return Status(StatusCode::kUnknownModel, "There is no such model file.");
  }
  // A FIFO would keep the open waiting for a writer.
  if (!S_ISREG(info.st_mode)) {
    return Status(StatusCode::kInvalidModel, "The model path is not a regular file.");
  }
  std::ifstream file(path, std::ios::binary);
  const auto outline = OutlineOf(file, static_cast<uint64_t>(info.st_size));
  if (!outline) return Damaged();
  auto metadata = ReadOnnxMetadata(BytesOf(*outline));
  if (!metadata.ok()) return metadata.status();
  ModelDescription description;
  description.metadata = *std::move(metadata);
  auto names = ParseClassNames(description.metadata["names"]);
  if (names.ok()) description.names = *std::move(names);
  return description;
}

}  // namespace lattice
