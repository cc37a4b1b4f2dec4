#include "native/model/class_names.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "native/model/python_literal.h"

namespace lattice {
namespace {

constexpr size_t kMaxClasses = 10'000;
// The longest name that a request may have, counted in the same way.
constexpr size_t kMaxCharacters = 128;

constexpr const char* kShape =
    "class names must be like {0: 'car', 1: 'bus'}, a list, or a line `0: car` per class";

using NamesById = std::map<int, std::string>;

bool IsBlank(char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; }

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

std::string WithSingleSpaces(std::string_view text) {
  std::string out;
  for (const char c : Trimmed(text)) {
    const bool blank = IsBlank(c);
    if (!blank) out += c;
    if (blank && out.back() != ' ') out += ' ';
  }
  return out;
}

// The length that JavaScript counts: a character of four bytes in UTF-8 counts twice.
size_t CharactersOf(std::string_view text) {
  size_t count = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    count += (byte & 0xc0) == 0x80 ? 0 : byte >= 0xf0 ? 2 : 1;
  }
  return count;
}

Status Add(int id, std::string name, size_t position, NamesById* names) {
  if (names->size() == kMaxClasses) return Malformed("more than 10000 classes", position);
  if (names->emplace(id, std::move(name)).second) return {};
  return Malformed("a class id comes twice", position);
}

// `0`, or `"0"` as JSON has it.
std::optional<int> IdOf(LiteralReader* reader) {
  const auto plain = reader->Integer();
  if (plain) return plain;
  const auto quoted = reader->String();
  if (!quoted) return std::nullopt;
  LiteralReader inside(*quoted);
  const auto id = inside.Integer();
  return inside.AtEnd() ? id : std::nullopt;
}

// Reads the names after the opening bracket. The last one may have a comma after it, as Python
// allows.
Result<NamesById> ReadLiteral(LiteralReader* reader, char close, bool has_ids) {
  NamesById names;
  while (!reader->Accept(close)) {
    if (!names.empty() && !reader->Accept(',')) return Malformed(kShape, reader->position());
    if (!names.empty() && reader->Accept(close)) break;
    const auto id = has_ids ? IdOf(reader) : static_cast<int>(names.size());
    if (!id || (has_ids && !reader->Accept(':'))) return Malformed(kShape, reader->position());
    auto name = reader->String();
    if (!name) return Malformed(kShape, reader->position());
    const Status added = Add(*id, *std::move(name), reader->position(), &names);
    if (!added.ok()) return added;
  }
  if (!reader->AtEnd()) return Malformed(kShape, reader->position());
  return names;
}

// The name on a line of YAML, behind the id.
std::optional<std::string> YamlName(std::string_view text) {
  text = Trimmed(text);
  if (!text.starts_with('\'') && !text.starts_with('"')) {
    return std::string(text.substr(0, text.find(" #")));
  }
  LiteralReader reader(text);
  auto name = reader.String();
  return reader.AtEnd() ? name : std::nullopt;
}

// A line `0: car` or `- car`.
Status ReadYamlLine(std::string_view line, size_t position, NamesById* names) {
  std::optional<int> id;
  if (line.starts_with("- ")) {
    id = static_cast<int>(names->size());
    line.remove_prefix(1);
  } else {
    LiteralReader reader(line);
    id = IdOf(&reader);
    if (!id || !reader.Accept(':')) return Malformed(kShape, position);
    line.remove_prefix(reader.position());
  }
  auto name = YamlName(line);
  if (!name) return Malformed(kShape, position);
  return Add(*id, *std::move(name), position, names);
}

Result<NamesById> ReadYaml(std::string_view text) {
  NamesById names;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = Trimmed(text.substr(at, end - at));
    if (!line.empty() && !line.starts_with('#') && line != "---" && line != "names:") {
      const Status read = ReadYamlLine(line, at, &names);
      if (!read.ok()) return read;
    }
    at = end + 1;
  }
  return names;
}

Result<NamesById> ReadAnyForm(std::string_view text) {
  LiteralReader reader(text);
  if (reader.Accept('{')) return ReadLiteral(&reader, '}', true);
  if (reader.Accept('[')) return ReadLiteral(&reader, ']', false);
  if (reader.Accept('(')) return ReadLiteral(&reader, ')', false);
  return ReadYaml(text);
}

Status Unfit(size_t id, const std::string& why) {
  return {StatusCode::kInvalidModel, "class " + std::to_string(id) + why};
}

}  // namespace

Result<std::vector<std::string>> ParseClassNames(std::string_view text) {
  const std::string_view whole = Trimmed(text);
  if (whole.empty() || whole == "None" || whole == "null") {
    return Malformed("there are no class names", 0);
  }
  auto by_id = ReadAnyForm(text);
  if (!by_id.ok()) return by_id.status();
  if (by_id->empty()) return Malformed("there are no class names", text.size());
  // The map is sorted and its keys are unique, so the last key alone tells whether one is missing.
  if (by_id->rbegin()->first != static_cast<int>(by_id->size()) - 1) {
    return Malformed("class ids must be 0 to n-1 without a gap", text.size());
  }
  std::vector<std::string> names;
  names.reserve(by_id->size());
  for (const auto& [id, name] : *by_id) {
    std::string clean = WithSingleSpaces(name);
    if (clean.empty()) return Unfit(names.size(), " has no name");
    if (const size_t length = CharactersOf(clean); length > kMaxCharacters) {
      return Unfit(names.size(),
                   "'s name has " + std::to_string(length) + " characters, 128 at most");
    }
    names.push_back(std::move(clean));
  }
  return names;
}

}  // namespace lattice
