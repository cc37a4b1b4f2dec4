// `name=value` lines in a fixed order: the text of keys and headers in the engine folder.
#ifndef LATTICE_ENGINE_CACHE_NAMED_LINES_H_
#define LATTICE_ENGINE_CACHE_NAMED_LINES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lattice {

// Values may hold any bytes: what is not printable ASCII, and the backslash, is written as \xHH. So
// different values never give the same text.
void AppendLine(std::string_view name, std::string_view value, std::string* text);
void AppendLine(std::string_view name, int64_t value, std::string* text);

// Takes lines off the front of a text, which it borrows. A line that is not what the caller expects
// gives an empty value or 0, and makes ok() false for good.
class NamedLines {
 public:
  explicit NamedLines(std::string_view text) : rest_(text) {}
  std::string Take(std::string_view name);
  int64_t TakeNumber(std::string_view name);
  bool ok() const { return ok_; }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// All of `text` as a decimal number that fits.
std::optional<int64_t> WholeNumber(std::string_view text);

}  // namespace lattice

#endif  // LATTICE_ENGINE_CACHE_NAMED_LINES_H_
