// The slots of one lane on all GPUs: whoever runs a slice takes one that is free.
#ifndef LATTICE_ENGINE_SLOT_POOL_H_
#define LATTICE_ENGINE_SLOT_POOL_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "native/base/status.h"

namespace lattice {

// Thread-safe. A GPU that was lost gives no slot any more, and the others go on with all the work.
template <typename Slot>
class SlotPool {
 public:
  // Before the first Run.
  void Add(int gpu, std::unique_ptr<Slot> slot) {
    free_.push_back({gpu, std::move(slot)});
    ++left_;
  }

  // Calls run(gpu, slot) with a free slot, blocking until there is one. kGpuLost takes all slots of
  // that GPU out and runs again on another GPU; it is the answer when none is left.
  template <typename Work>
  Status Run(const Work& run) {
    Status last(StatusCode::kGpuLost,
                "Every GPU faulted and is lost to this process. Restart the service.");
    while (auto entry = Take()) {
      Status ran = run(entry->gpu, *entry->slot);
      if (ran.code() != StatusCode::kGpuLost) {
        Return(*std::move(entry));
        return ran;
      }
      Lose(*std::move(entry));
      last = std::move(ran);
    }
    return last;
  }

 private:
  struct Entry {
    int gpu;
    std::unique_ptr<Slot> slot;
  };

  std::optional<Entry> Take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !free_.empty() || left_ == 0; });
    if (free_.empty()) return std::nullopt;
    Entry entry = std::move(free_.back());
    free_.pop_back();
    return entry;
  }

  void Return(Entry entry) {
    {
      const std::lock_guard lock(mutex_);
      free_.push_back(std::move(entry));
    }
    changed_.notify_one();
  }

  void Lose(Entry entry) {
    {
      const std::lock_guard lock(mutex_);
      Drop(&entry);
      std::erase_if(free_, [&](Entry& other) {
        if (other.gpu != entry.gpu) return false;
        Drop(&other);
        return true;
      });
    }
    changed_.notify_all();
  }

  // Freeing what lies on a lost GPU fails; it goes with the process.
  void Drop(Entry* entry) {
    (void)entry->slot.release();
    --left_;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Entry> free_;
  int left_ = 0;
};

}  // namespace lattice

#endif  // LATTICE_ENGINE_SLOT_POOL_H_
