// The slots of one class on all GPUs, by number: an equal share for each GPU in turn.
#ifndef LATTICE_ENGINE_DEVICE_SLOTS_H_
#define LATTICE_ENGINE_DEVICE_SLOTS_H_

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "native/base/kept_forever.h"
#include "native/base/left_gpus.h"
#include "native/base/status.h"

namespace lattice {

// Thread-safe. A GPU that faulted or hangs is not touched again: its slots answer kGpuLost, and are
// never freed.
template <typename Slot>
class DeviceSlots {
 public:
  ~DeviceSlots() {
    for (Entry& entry : entries_) {
      if (IsKept(*entry.device)) KeepForever(std::move(entry.slot));
    }
  }

  // Both before the first Run. Slots belong to the GPU that was added last; those of one that was
  // lost before are null.
  void AddDevice(int gpu, bool lost = false) { devices_.emplace_back(gpu, lost); }
  void Add(std::unique_ptr<Slot> slot) { entries_.emplace_back(&devices_.back(), std::move(slot)); }

  size_t size() const { return entries_.size(); }
  // Whether what lies on the device stays there until the process ends. In the order of AddDevice.
  bool kept(size_t device) const { return IsKept(devices_[device]); }

  // Calls run(gpu, slot) for this number, after whoever runs there.
  template <typename Work>
  Status Run(size_t number, const Work& run) {
    Entry& entry = entries_[number];
    std::unique_lock lock(entry.running, std::try_to_lock);
    if (!lock.owns_lock()) {
      // Whoever runs on a GPU that hangs may do so for ever.
      if (IsKept(*entry.device)) return Lost();
      lock.lock();
    }
    if (entry.device->lost) return Lost();
    Status ran = run(entry.device->gpu, *entry.slot);
    if (ran.code() == StatusCode::kGpuLost) entry.device->lost = true;
    return ran;
  }

  // As Run, for a number on the first GPU that is not lost.
  template <typename Work>
  Status RunAnywhere(const Work& run) {
    for (size_t number = 0; number < entries_.size(); ++number) {
      Status ran = Run(number, run);
      if (ran.code() != StatusCode::kGpuLost) return ran;
    }
    return Lost();
  }

 private:
  struct Device {
    Device(int index, bool is_lost) : gpu(index), lost(is_lost) {}
    const int gpu;
    std::atomic<bool> lost;
  };
  struct Entry {
    Entry(Device* on, std::unique_ptr<Slot> of) : device(on), slot(std::move(of)) {}
    Device* device;
    std::unique_ptr<Slot> slot;
    std::mutex running;
  };

  // Somebody else of this process may have found it hanging.
  static bool IsKept(const Device& device) { return device.lost || IsGpuLeft(device.gpu); }

  static Status Lost() {
    return {StatusCode::kGpuLost, "The GPU faulted or hangs and is lost to this process."};
  }

  std::deque<Device> devices_;
  std::deque<Entry> entries_;
};

}  // namespace lattice

#endif  // LATTICE_ENGINE_DEVICE_SLOTS_H_
