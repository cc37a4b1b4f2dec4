#include "native/model/python_literal.h"

#include <cstdint>
#include <map>
#include <optional>

namespace lattice {
namespace {

constexpr size_t kMaxClasses = 10'000;
constexpr size_t kMaxIntegers = 8;

constexpr uint32_t kReplacement = 0xfffd;

// Half of a surrogate pair, which Python's strings may hold, and what is beyond Unicode have no
// UTF-8.
void AppendUtf8(uint32_t code, std::string& out) {
  if ((code >= 0xd800 && code < 0xe000) || code > 0x10ffff) code = kReplacement;
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

class LiteralReader {
 public:
  explicit LiteralReader(std::string_view text) : text_(text) {}

  size_t position() const { return at_; }

  bool AtEnd() {
    SkipBlanks();
    return at_ == text_.size();
  }

  bool Accept(char expected) {
    SkipBlanks();
    if (at_ >= text_.size() || text_[at_] != expected) return false;
    ++at_;
    return true;
  }

  std::optional<int> Integer() {
    SkipBlanks();
    int value = 0;
    const size_t start = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      if (at_ - start == 9) return std::nullopt;
      value = value * 10 + (text_[at_++] - '0');
    }
    return at_ == start ? std::nullopt : std::optional(value);
  }

  std::optional<std::string> String() {
    SkipBlanks();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return std::nullopt;
    const char quote = text_[at_++];
    std::string out;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\') {
        ++at_;
        if (!Escape(out)) return std::nullopt;
      } else {
        out += text_[at_++];
      }
    }
    if (at_ == text_.size()) return std::nullopt;
    ++at_;
    return out;
  }

 private:
  void SkipBlanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  bool Escape(std::string& out) {
    if (at_ == text_.size()) return false;
    const char kind = text_[at_++];
    switch (kind) {
      case '\\':
      case '\'':
      case '"':
        out += kind;
        return true;
      case 'n':
        out += '\n';
        return true;
      case 'r':
        out += '\r';
        return true;
      case 't':
        out += '\t';
        return true;
      case 'x':
        return Hex(2, out);
      case 'u':
        return Hex(4, out);
      case 'U':
        return Hex(8, out);
      default:
        return false;
    }
  }

  bool Hex(size_t digits, std::string& out) {
    if (text_.size() - at_ < digits) return false;
    uint32_t code = 0;
    for (size_t i = 0; i < digits; ++i) {
      const char c = text_[at_++];
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return false;
      code = code << 4 | static_cast<uint32_t>(digit);
    }
    AppendUtf8(code, out);
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

Status Malformed(const char* what, size_t position) {
  return {StatusCode::kInvalidModel,
          std::string(what) + " (at byte " + std::to_string(position) + ")"};
}

}  // namespace

Result<std::vector<std::string>> ParseClassNames(std::string_view text) {
  constexpr const char* kShape = "class names must be a dict literal such as {0: 'car', 1: 'bus'}";
  LiteralReader reader(text);
  if (!reader.Accept('{')) return Malformed(kShape, reader.position());
  std::map<int, std::string> by_id;
  while (!reader.Accept('}')) {
    if (!by_id.empty() && !reader.Accept(',')) return Malformed(kShape, reader.position());
    if (!by_id.empty() && reader.Accept('}')) break;  // Python allows a last comma
    const auto id = reader.Integer();
    if (!id || !reader.Accept(':')) return Malformed(kShape, reader.position());
    auto name = reader.String();
    if (!name) return Malformed(kShape, reader.position());
    if (by_id.size() == kMaxClasses) return Malformed("more than 10000 classes", reader.position());
    if (!by_id.emplace(*id, *std::move(name)).second) {
      return Malformed("a class id comes twice", reader.position());
    }
  }
  if (!reader.AtEnd()) return Malformed(kShape, reader.position());
  if (by_id.empty()) return Malformed("there are no class names", reader.position());
  // The map is sorted and its keys are unique, so the last key alone tells whether one is missing.
  if (by_id.rbegin()->first != static_cast<int>(by_id.size()) - 1) {
    return Malformed("class ids must be 0 to n-1 without a gap", reader.position());
  }
  std::vector<std::string> names;
  names.reserve(by_id.size());
  for (auto& [id, name] : by_id) names.push_back(std::move(name));
  return names;
}

Result<std::vector<int>> ParseIntegers(std::string_view text) {
  constexpr const char* kShape = "expected integers such as 640 or [640, 640]";
  LiteralReader reader(text);
  const char close = reader.Accept('[') ? ']' : reader.Accept('(') ? ')' : '\0';
  std::vector<int> values;
  do {
    const auto value = reader.Integer();
    if (!value || values.size() == kMaxIntegers) return Malformed(kShape, reader.position());
    values.push_back(*value);
  } while (close != '\0' && reader.Accept(','));
  if ((close != '\0' && !reader.Accept(close)) || !reader.AtEnd()) {
    return Malformed(kShape, reader.position());
  }
  return values;
}

}  // namespace lattice
