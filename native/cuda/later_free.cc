#include "native/cuda/later_free.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "native/base/thread_class.h"

namespace lattice {
namespace {

struct Waiting {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::shared_ptr<const void>> objects;
};

void Destroy(Waiting* waiting) {
  (void)NameThread("lattice-free");
  std::unique_lock lock(waiting->mutex);
  while (true) {
    waiting->changed.wait(lock, [&] { return !waiting->objects.empty(); });
    auto objects = std::exchange(waiting->objects, {});
    lock.unlock();
    objects.clear();
    lock.lock();
  }
}

// Never destroyed, since its thread may hang.
Waiting& Started() {
  static auto* const waiting = [] {
    auto* const made = new Waiting();
    std::thread(Destroy, made).detach();
    return made;
  }();
  return *waiting;
}

}  // namespace

void DestroyLater(std::shared_ptr<const void> object) {
  Waiting& waiting = Started();
  {
    const std::lock_guard lock(waiting.mutex);
    waiting.objects.push_back(std::move(object));
  }
  waiting.changed.notify_one();
}

}  // namespace lattice
