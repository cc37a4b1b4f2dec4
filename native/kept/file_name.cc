#include "native/kept/file_name.h"

#include "native/base/sha256.h"

namespace lattice {
namespace {

constexpr size_t kHashDigits = 32;
constexpr size_t kLongestPart = 48;

}  // namespace

std::string PlainPart(const std::string& text) {
  constexpr char kPlain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
  std::string part = text.substr(0, kLongestPart);
  for (size_t at = 0; (at = part.find_first_not_of(kPlain, at)) != std::string::npos;) {
    part[at] = '-';
  }
  return part;
}

std::string HashPart(const std::string& text) { return Sha256(text).substr(0, kHashDigits); }

}  // namespace lattice
