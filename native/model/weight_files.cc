#include "native/model/weight_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "native/model/git_lfs_pointer.h"
#include "native/model/onnx_fields.h"
#include "native/model/protobuf_wire.h"

namespace lattice {
namespace {

enum class Kind { kModel, kGraph, kNode, kAttribute, kTensor };

// The kind that a field of a message holds, if tensors may lie in it.
std::optional<Kind> KindOf(Kind parent, uint32_t field) {
  switch (parent) {
    case Kind::kModel:
      if (field == onnx::kGraph) return Kind::kGraph;
      break;
    case Kind::kGraph:
      if (field == onnx::kGraphNode) return Kind::kNode;
      if (field == onnx::kGraphInitializer) return Kind::kTensor;
      break;
    case Kind::kNode:
      if (field == onnx::kNodeAttribute) return Kind::kAttribute;
      break;
    case Kind::kAttribute:
      if (field == onnx::kAttributeTensor || field == onnx::kAttributeTensors) return Kind::kTensor;
      if (field == onnx::kAttributeGraph || field == onnx::kAttributeGraphs) return Kind::kGraph;
      break;
    case Kind::kTensor:
      break;
  }
  return std::nullopt;
}

// The place in a file at which the numbers of a tensor are stored.
struct Place {
  std::string file;
  uint64_t offset = 0;
  std::optional<uint64_t> length;  // nothing: to the end of the file
};

Status RefuseFile(const std::string& file, const std::string& why) {
  return {StatusCode::kInvalidModel,
          "The model's weights lie in a file beside it, '" + file.substr(0, 200) + "', " + why};
}

// Returns an offset beyond every file for a text that is no number.
uint64_t NumberOf(std::string_view text) {
  uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() ? value : std::numeric_limits<uint64_t>::max();
}

void ReadPlacePart(ByteView bytes, Place* place) {
  std::string_view key;
  std::string_view value;
  WireReader reader(bytes);
  while (!reader.AtEnd()) {
    const auto field = reader.Next();
    if (!field) return;
    if (field->number == onnx::kEntryKey) key = TextOf(field->bytes);
    if (field->number == onnx::kEntryValue) value = TextOf(field->bytes);
  }
  if (key == "location") place->file = value;
  if (key == "offset") place->offset = NumberOf(value);
  if (key == "length") place->length = NumberOf(value);
}

// Returns nullopt for a tensor that holds its numbers itself.
std::optional<Place> PlaceOf(ByteView tensor) {
  Place place;
  WireReader reader(tensor);
  while (!reader.AtEnd()) {
    const auto field = reader.Next();
    if (!field) return std::nullopt;
    if (field->number == onnx::kExternalData) ReadPlacePart(field->bytes, &place);
  }
  if (place.file.empty()) return std::nullopt;
  return place;
}

bool HasWeightsBeside(Kind kind, ByteView bytes, int nested = 0) {
  if (kind == Kind::kTensor) return PlaceOf(bytes).has_value();
  WireReader reader(bytes);
  while (!reader.AtEnd()) {
    const auto field = reader.Next();
    if (!field || nested > onnx::kMostNested) return false;
    const auto child = KindOf(kind, field->number);
    if (child && HasWeightsBeside(*child, field->bytes, nested + 1)) return true;
  }
  return false;
}

// Copies messages and takes in the weights.
class Copier {
 public:
  Copier(std::string folder, size_t most) : folder_(std::move(folder)), left_(most) {}

  // `bytes`: a message that HasWeightsBeside has walked, or part of it.
  Result<std::string> Copy(Kind kind, ByteView bytes, int nested = 0) {
    if (kind == Kind::kTensor) return CopyTensor(bytes);
    std::string out;
    WireReader reader(bytes);
    while (!reader.AtEnd()) {
      const auto field = reader.Next();
      if (!field || nested > onnx::kMostNested)
        return std::string(TextOf(bytes));  // its reader refuses it
      const auto child = KindOf(kind, field->number);
      if (!child || !field->delimited()) {
        out += TextOf(field->whole);
        continue;
      }
      const auto copied = Copy(*child, field->bytes, nested + 1);
      if (!copied.ok()) return copied.status();
      AppendBytes(out, field->number, *copied);
    }
    return out;
  }

 private:
  Result<std::string> CopyTensor(ByteView bytes) {
    const auto place = PlaceOf(bytes);
    if (!place) return std::string(TextOf(bytes));
    const auto numbers = Read(*place);
    if (!numbers.ok()) return numbers.status();
    std::string out;
    WireReader reader(bytes);
    while (!reader.AtEnd()) {
      const auto field = reader.Next();
      if (!field) break;  // PlaceOf has walked these bytes before
      const bool replaced = field->number == onnx::kExternalData ||
                            field->number == onnx::kDataLocation || field->number == onnx::kRawData;
      if (!replaced) out += TextOf(field->whole);
    }
    AppendBytes(out, onnx::kRawData, *numbers);
    return out;
  }

  Status Open(const std::string& name) {
    if (name == open_) return {};
    const std::filesystem::path path(name);
    const bool climbs = std::any_of(path.begin(), path.end(),
                                    [](const std::filesystem::path& part) { return part == ".."; });
    if (path.is_absolute() || climbs) {
      return RefuseFile(name, "which is outside the model's folder: export it again as one file.");
    }
    const std::filesystem::path whole = std::filesystem::path(folder_) / path;
    struct stat info {};
    if (stat(whole.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
      return RefuseFile(name,
                        "which is missing: put it into the folder of the model, under this name.");
    }
    file_ = std::ifstream(whole, std::ios::binary);
    if (!file_) return RefuseFile(name, "which cannot be read.");
    if (IsGitLfsPointer(file_)) return RefuseFile(name, std::string("which is ") + kGitLfsPointer);
    size_ = static_cast<uint64_t>(info.st_size);
    open_ = name;
    return {};
  }

  Result<std::string> Read(const Place& place) {
    const Status opened = Open(place.file);
    if (!opened.ok()) return opened;
    const uint64_t behind = place.offset > size_ ? 0 : size_ - place.offset;
    const uint64_t length = place.length.value_or(behind);
    if (place.offset > size_ || length > behind) {
      return RefuseFile(place.file,
                        "which is shorter than the model says: it is cut short, or that of "
                        "another export.");
    }
    if (length > left_) return RefuseFile(place.file, "which makes it larger than 2 GiB.");
    left_ -= length;
    std::string numbers(length, '\0');
    file_.seekg(static_cast<std::streamoff>(place.offset));
    if (!file_.read(numbers.data(), static_cast<std::streamsize>(length))) {
      return RefuseFile(place.file, "which cannot be read.");
    }
    return numbers;
  }

  const std::string folder_;
  size_t left_;
  std::string open_;
  std::ifstream file_;
  uint64_t size_ = 0;
};

}  // namespace

Result<std::string> WithWeightsInside(std::string model, const std::string& folder, size_t most) {
  if (!HasWeightsBeside(Kind::kModel, BytesOf(model))) return model;
  const size_t left = most - std::min(most, model.size());
  return Copier(folder, left).Copy(Kind::kModel, BytesOf(model));
}

}  // namespace lattice
