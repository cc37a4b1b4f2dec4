// The form of a kept file: a head that proves its bytes, then the bytes.
#ifndef LATTICE_KEPT_KEPT_FILE_H_
#define LATTICE_KEPT_KEPT_FILE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace lattice {

// 16 bytes that name the form, its version and the length as little-endian numbers of 8 bytes, and
// the SHA-256 of the three, of the file's name and of the bytes. So a file is read back only as it
// was stored and under the name that it was stored under.
inline constexpr size_t kKeptHeadBytes = 64;
using KeptHead = std::array<char, kKeptHeadBytes>;

KeptHead HeadOf(const std::string& name, std::span<const char> bytes);

// Checks the head of a file of this size before its bytes are read. Returns "" if the head has this
// form and this length, else what is wrong, as the end of a sentence.
std::string FaultOfHead(const KeptHead& head, uint64_t file_bytes);

}  // namespace lattice

#endif  // LATTICE_KEPT_KEPT_FILE_H_
