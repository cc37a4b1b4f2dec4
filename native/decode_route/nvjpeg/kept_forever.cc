#include "native/decode_route/nvjpeg/kept_forever.h"

#include <mutex>
#include <utility>
#include <vector>

namespace lattice {

void KeepForever(std::shared_ptr<const void> object) {
  static std::mutex mutex;
  // Not destroyed at the end of the process either.
  static auto* const kept = new std::vector<std::shared_ptr<const void>>();
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(object));
}

}  // namespace lattice
