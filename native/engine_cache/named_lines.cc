#include "native/engine_cache/named_lines.h"

#include <charconv>

namespace lattice {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

std::optional<std::string> Unescape(std::string_view value) {
  std::string bytes;
  for (size_t i = 0; i < value.size(); ++i) {
    if (value[i] != '\\') {
      bytes += value[i];
      continue;
    }
    if (i + 3 >= value.size() || value[i + 1] != 'x') return std::nullopt;
    const size_t high = kDigits.find(value[i + 2]);
    const size_t low = kDigits.find(value[i + 3]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes += static_cast<char>(high << 4 | low);
    i += 3;
  }
  return bytes;
}

}  // namespace

void AppendLine(std::string_view name, std::string_view value, std::string* text) {
  text->append(name);
  *text += '=';
  for (const char c : value) {
    if (c >= ' ' && c <= '~' && c != '\\') {
      *text += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      *text += "\\x";
      *text += kDigits[byte >> 4];
      *text += kDigits[byte & 15];
    }
  }
  *text += '\n';
}

void AppendLine(std::string_view name, int64_t value, std::string* text) {
  AppendLine(name, std::to_string(value), text);
}

std::string NamedLines::Take(std::string_view name) {
  const size_t end = rest_.find('\n');
  const std::string_view line = rest_.substr(0, end);
  const bool expected = end != std::string_view::npos && line.size() > name.size() &&
                        line.starts_with(name) && line[name.size()] == '=';
  const auto value = expected ? Unescape(line.substr(name.size() + 1)) : std::nullopt;
  ok_ = ok_ && value.has_value();
  if (!ok_) return "";
  rest_.remove_prefix(end + 1);
  return *value;
}

int64_t NamedLines::TakeNumber(std::string_view name) {
  const auto number = WholeNumber(Take(name));
  ok_ = ok_ && number.has_value();
  return ok_ ? *number : 0;
}

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace lattice
