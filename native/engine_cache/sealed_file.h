// A file of a header text and a payload, both under a checksum. src/inference/models/engine-file.ts
// reads the same layout.
#ifndef LATTICE_ENGINE_CACHE_SEALED_FILE_H_
#define LATTICE_ENGINE_CACHE_SEALED_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "native/base/status.h"
#include "native/engine_cache/private_folder.h"

namespace lattice {

// Layout; numbers are little-endian:
//
//    0   8  magic
//    8   4  format version, 1
//   12   4  bytes of the header text, n; at most 65,536
//   16   8  bytes of the payload
//   24  32  SHA-256 of the payload
//   56  32  SHA-256 of bytes 0 to 55 and the header text
//   88   n  header text, ASCII
//   88+n    payload, to the end of the file
inline constexpr size_t kSealBytes = 88;
inline constexpr size_t kMaxHeaderTextBytes = 64 * 1024;
inline constexpr std::string_view kEngineMagic = "LATENGIN";
inline constexpr std::string_view kTimingMagic = "LATTIMNG";

struct SealedFile {
  FileState state = FileState::kAbsent;
  std::string reason;         // a sentence for the user, unless ready or absent
  std::string text;           // for kReady
  std::vector<char> payload;  // for kReady, when it was asked for
  uint64_t bytes = 0;         // of the whole file; 0 for kForeign
  int64_t last_used_s = 0;
};

// kHeader leaves the payload unread: of it only the length is checked.
enum class SealedPart { kHeader, kWhole };

// Stale is another format version; foreign, beside what OpenFile says, another magic.
// kInternalError when reading fails.
Result<SealedFile> ReadSealed(const PrivateFolder& folder, const std::string& name,
                              std::string_view magic, SealedPart part);

// As PrivateFolder::Replace. A foreign file of that name is not replaced: kInternalError with its
// reason. Precondition: text.size() <= kMaxHeaderTextBytes.
Status WriteSealed(const PrivateFolder& folder, const std::string& name, std::string_view magic,
                   std::string_view text, std::span<const char> payload);

// The bytes in front of the payload.
std::string SealOf(std::string_view magic, std::string_view text, std::span<const char> payload);

}  // namespace lattice

#endif  // LATTICE_ENGINE_CACHE_SEALED_FILE_H_
