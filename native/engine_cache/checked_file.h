// A file of a header text and a payload under checksums, written whole or not at all.
#ifndef LATTICE_ENGINE_CACHE_CHECKED_FILE_H_
#define LATTICE_ENGINE_CACHE_CHECKED_FILE_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "native/base/status.h"

namespace lattice {

// Layout, read by src/inference/models/engine-file.ts too; numbers are little-endian:
//
//    0   8  magic
//    8   4  format version, 2
//   12   4  bytes of the header text, n
//   16   8  bytes of the payload
//   24   4  CRC-32 of the payload
//   28   4  CRC-32 of bytes 0 to 27 and the header text
//   32   n  header text
//   32+n    payload, to the end of the file
struct CheckedFile {
  std::string text;
  std::vector<char> payload;
};

// Marks the file as used now. Empty where there is none, where it is damaged or of another format,
// and where another user could have written it. Follows no link.
std::optional<CheckedFile> ReadCheckedFile(const std::string& path, std::string_view magic);

// Replaces the file, mode 0600. Calls for one path must not overlap, in any process: they share
// PATH.partial. kInternalError when it cannot be written; the earlier file stays then. Messages
// hold the file's name, not its folder.
Status WriteCheckedFile(const std::string& path, std::string_view magic, std::string_view text,
                        std::span<const char> payload);

}  // namespace lattice

#endif  // LATTICE_ENGINE_CACHE_CHECKED_FILE_H_
