#include "native/base/resident_memory.h"

#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

namespace lattice {

size_t AnonymousResidentBytes() {
  constexpr std::string_view kLabel = "RssAnon:";
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(kLabel)) continue;
    const size_t digits = line.find_first_of("0123456789");
    size_t kibibytes = 0;
    if (digits != std::string::npos) {
      std::from_chars(line.data() + digits, line.data() + line.size(), kibibytes);
    }
    return kibibytes * 1024;
  }
  return 0;
}

}  // namespace lattice
