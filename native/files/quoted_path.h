// A caller's path, quoted for a message.
#ifndef LATTICE_FILES_QUOTED_PATH_H_
#define LATTICE_FILES_QUOTED_PATH_H_

#include <string>
#include <string_view>

namespace lattice {

// The path in double quotes: valid UTF-8, at most 200 bytes of it (cut ones end in an ellipsis),
// control characters, text direction marks and invalid bytes replaced by U+FFFD.
std::string QuotedPath(std::string_view path);

}  // namespace lattice

#endif  // LATTICE_FILES_QUOTED_PATH_H_
