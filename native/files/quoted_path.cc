#include "native/files/quoted_path.h"

#include <cstddef>
#include <cstdint>

namespace lattice {
namespace {

constexpr size_t kMaxBytes = 200;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

struct CodePoint {
  uint32_t value = 0;
  size_t bytes = 0;  // 0 = invalid
};

CodePoint FirstCodePoint(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(text[i])); };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  uint32_t value = lead & (0x7Fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte(i) & 0x3F);
  }
  const bool overlong = (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF) return {};
  return {value, bytes};
}

bool IsUnfitForMessages(uint32_t value) {
  const bool control = value < 0x20 || (value >= 0x7F && value < 0xA0);
  const bool line_separator = value == 0x2028 || value == 0x2029;
  const bool direction = value == 0x200E || value == 0x200F ||
                         (value >= 0x202A && value <= 0x202E) ||
                         (value >= 0x2066 && value <= 0x2069);
  return control || line_separator || direction;
}

}  // namespace

std::string QuotedPath(std::string_view path) {
  std::string shown = "\"";
  while (!path.empty()) {
    const CodePoint point = FirstCodePoint(path);
    const bool fit = point.bytes > 0 && !IsUnfitForMessages(point.value);
    const size_t taken = point.bytes > 0 ? point.bytes : 1;
    const std::string_view text = fit ? path.substr(0, taken) : kReplacement;
    if (shown.size() - 1 + text.size() > kMaxBytes) {
      shown += kEllipsis;
      break;
    }
    shown += text;
    path.remove_prefix(taken);
  }
  return shown + '"';
}

}  // namespace lattice
