// The key-value metadata (`metadata_props`) of an ONNX file, read without parsing the network.
#ifndef LATTICE_MODEL_ONNX_METADATA_H_
#define LATTICE_MODEL_ONNX_METADATA_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "native/base/status.h"

namespace lattice {

// Walks the outermost protobuf message (ModelProto) and collects `metadata_props`; a key that comes
// twice keeps its last value, as protobuf does. kInvalidModel when the bytes are empty, are no
// protobuf message, stop early, or hold no graph. Never reads outside `file`; thread-safe.
Result<std::map<std::string, std::string>> ReadOnnxMetadata(std::span<const uint8_t> file);

// Appends an entry to the bytes of a file: readers take the last entry of a key.
void AppendMetadata(std::string& file, std::string_view key, std::string_view value);

struct ModelDescription {
  std::vector<std::string> names;  // by class id; empty where the file names no classes
  std::map<std::string, std::string> metadata;
};

// Metadata and class names of a file, without reading its weights. kUnknownModel when there is
// none, kInvalidModel as ReadOnnxMetadata or when it cannot be read. Thread-safe.
Result<ModelDescription> DescribeModelFile(const std::string& path);

}  // namespace lattice

#endif  // LATTICE_MODEL_ONNX_METADATA_H_
