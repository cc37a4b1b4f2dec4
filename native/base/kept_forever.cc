#include "native/base/kept_forever.h"

#include <exception>
#include <mutex>
#include <utility>
#include <vector>

namespace lattice {
namespace {

// Its member outlives it.
union Undestroyed {
  explicit Undestroyed(std::shared_ptr<const void> of) : object(std::move(of)) {}
  ~Undestroyed() {}
  std::shared_ptr<const void> object;
};

}  // namespace

void KeepForever(std::shared_ptr<const void> object) noexcept {
  static std::mutex mutex;
  // Counted once more than anybody lets go of it, whether or not the list has room.
  const Undestroyed kept(object);
  try {
    // Only so that leak checkers find it. Not destroyed at the end of the process either.
    static auto* const all = new std::vector<std::shared_ptr<const void>>();
    const std::lock_guard lock(mutex);
    all->push_back(std::move(object));
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace lattice
