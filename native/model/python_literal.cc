#include "native/model/python_literal.h"

namespace lattice {
namespace {

constexpr size_t kMaxIntegers = 8;

constexpr uint32_t kReplacement = 0xfffd;

// The halves of a surrogate pair.
constexpr bool IsFirstHalf(uint32_t code) { return code >= 0xd800 && code < 0xdc00; }
constexpr bool IsSecondHalf(uint32_t code) { return code >= 0xdc00 && code < 0xe000; }

// A half without the other, which strings of Python and JSON may hold, and what is beyond Unicode
// have no UTF-8.
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

}  // namespace

bool LiteralReader::AtEnd() {
  SkipBlanks();
  return at_ == text_.size();
}

bool LiteralReader::Accept(char expected) {
  SkipBlanks();
  if (at_ >= text_.size() || text_[at_] != expected) return false;
  ++at_;
  return true;
}

std::optional<int> LiteralReader::Integer() {
  SkipBlanks();
  int value = 0;
  const size_t start = at_;
  while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
    if (at_ - start == 9) return std::nullopt;
    value = value * 10 + (text_[at_++] - '0');
  }
  return at_ == start ? std::nullopt : std::optional(value);
}

std::optional<std::string> LiteralReader::String() {
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

void LiteralReader::SkipBlanks() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
    ++at_;
  }
}

bool LiteralReader::Escape(std::string& out) {
  if (at_ == text_.size()) return false;
  const char kind = text_[at_++];
  switch (kind) {
    case '\\':
    case '\'':
    case '"':
    case '/':
      out += kind;
      return true;
    case 'b':
      out += '\b';
      return true;
    case 'f':
      out += '\f';
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
      return Character(2, out);
    case 'u':
      return Character(4, out);
    case 'U':
      return Character(8, out);
    default:
      return false;
  }
}

bool LiteralReader::Character(size_t digits, std::string& out) {
  const auto code = Hex(digits);
  if (!code) return false;
  if (IsFirstHalf(*code) && text_.substr(at_).starts_with("\\u")) {
    const size_t behind_first = at_;
    at_ += 2;
    const auto second = Hex(4);
    if (second && IsSecondHalf(*second)) {
      AppendUtf8(0x10000 + ((*code - 0xd800) << 10) + (*second - 0xdc00), out);
      return true;
    }
    at_ = behind_first;
  }
  AppendUtf8(*code, out);
  return true;
}

std::optional<uint32_t> LiteralReader::Hex(size_t digits) {
  if (text_.size() - at_ < digits) return std::nullopt;
  uint32_t code = 0;
  for (size_t i = 0; i < digits; ++i) {
    const char c = text_[at_++];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return std::nullopt;
    code = code << 4 | static_cast<uint32_t>(digit);
  }
  return code;
}

Status Malformed(const std::string& what, size_t position) {
  return {StatusCode::kInvalidModel, what + " (at byte " + std::to_string(position) + ")"};
}

namespace {

// `640`, or `640.0` as it is too.
std::optional<int> WholeNumber(LiteralReader* reader) {
  const auto value = reader->Integer();
  if (value && reader->Accept('.')) {
    const auto fraction = reader->Integer();
    if (fraction && *fraction != 0) return std::nullopt;
  }
  return value;
}

}  // namespace

Result<std::vector<int>> ParseIntegers(std::string_view text) {
  constexpr const char* kShape = "expected integers such as 640 or [640, 640]";
  LiteralReader reader(text);
  const char close = reader.Accept('[') ? ']' : reader.Accept('(') ? ')' : '\0';
  std::vector<int> values;
  do {
    const auto value = WholeNumber(&reader);
    if (!value || values.size() == kMaxIntegers) return Malformed(kShape, reader.position());
    values.push_back(*value);
  } while (reader.Accept(','));
  if ((close != '\0' && !reader.Accept(close)) || !reader.AtEnd()) {
    return Malformed(kShape, reader.position());
  }
  return values;
}

}  // namespace lattice
