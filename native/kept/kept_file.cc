#include "native/kept/kept_file.h"

#include <algorithm>
#include <string_view>

#include "native/base/sha256.h"

namespace lattice {
namespace {

constexpr std::string_view kForm = "lattice-kept\r\n\x1a\n";
constexpr uint64_t kVersion = 1;
constexpr size_t kVersionAt = 16;
constexpr size_t kLengthAt = 24;
constexpr size_t kHashAt = 32;
static_assert(kForm.size() == kVersionAt);

void WriteNumber(uint64_t number, char* to) {
  for (int i = 0; i < 8; ++i) to[i] = static_cast<char>(number >> (8 * i) & 0xff);
}

uint64_t ReadNumber(const char* from) {
  uint64_t number = 0;
  for (int i = 7; i >= 0; --i) number = number << 8 | static_cast<unsigned char>(from[i]);
  return number;
}

}  // namespace

KeptHead HeadOf(const std::string& name, std::span<const char> bytes) {
  KeptHead head;
  std::copy(kForm.begin(), kForm.end(), head.begin());
  WriteNumber(kVersion, &head[kVersionAt]);
  WriteNumber(bytes.size(), &head[kLengthAt]);
  // The hash covers the hash of the bytes, so that they are not copied to stand after the rest.
  const std::string hash = Sha256(std::string(head.data(), kHashAt) + name + '\0' +
                                  Sha256({bytes.data(), bytes.size()}));
  for (size_t i = kHashAt; i < head.size(); ++i) {
    const size_t digits = 2 * (i - kHashAt);
    head[i] = static_cast<char>(std::stoi(hash.substr(digits, 2), nullptr, 16));
  }
  return head;
}

std::string FaultOfHead(const KeptHead& head, uint64_t file_bytes) {
  if (!std::equal(kForm.begin(), kForm.end(), head.begin())) return "is of no known form";
  if (ReadNumber(&head[kVersionAt]) != kVersion) return "is of another version of the form";
  if (ReadNumber(&head[kLengthAt]) != file_bytes - kKeptHeadBytes) return "has another length";
  return {};
}

}  // namespace lattice
