// Reads the literals of Python and JSON that exporters write into model metadata.
#ifndef LATTICE_MODEL_PYTHON_LITERAL_H_
#define LATTICE_MODEL_PYTHON_LITERAL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "native/base/status.h"

namespace lattice {

// Reads one piece after the other, each behind any blanks. A piece that is not there, or is broken,
// is nothing; the reader may then stand anywhere.
class LiteralReader {
 public:
  explicit LiteralReader(std::string_view text) : text_(text) {}

  size_t position() const { return at_; }

  bool AtEnd();
  bool Accept(char expected);
  // Has up to 9 digits.
  std::optional<int> Integer();
  // Reads a string in either quotes, as UTF-8. The escapes are those of Python and of JSON.
  std::optional<std::string> String();

 private:
  void SkipBlanks();
  bool Escape(std::string& out);
  bool Character(size_t digits, std::string& out);
  std::optional<uint32_t> Hex(size_t digits);

  std::string_view text_;
  size_t at_ = 0;
};

// kInvalidModel: "what (at byte 7)".
Status Malformed(const std::string& what, size_t position);

// `[640, 480]`, `(640, 480)`, `640, 480` or `640`, each also as `640.0`: up to 8 integers of up to
// 9 digits. Other text fails with kInvalidModel.
Result<std::vector<int>> ParseIntegers(std::string_view text);

}  // namespace lattice

#endif  // LATTICE_MODEL_PYTHON_LITERAL_H_
