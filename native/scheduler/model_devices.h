// What the scheduler knows of each model on each of its devices.
#ifndef LATTICE_SCHEDULER_MODEL_DEVICES_H_
#define LATTICE_SCHEDULER_MODEL_DEVICES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "native/scheduler/device_planner.h"

namespace lattice {

enum class DeviceState { kOk, kLost, kFailedCheck };

struct DeviceStatus {
  int index = 0;
  std::string name;
  DeviceState state = DeviceState::kOk;
  uint64_t images = 0;  // done there
};

struct ModelDevices {
  explicit ModelDevices(const std::shared_ptr<Engine>& of)
      : engine(of), devices(of->devices()), costs(devices.size()), images(devices.size()) {}

  // The place of the device with this index; empty when there is none.
  PlaceSet At(int index) const {
    for (size_t place = 0; place < devices.size(); ++place) {
      if (devices[place].index == index) return PlaceSet{1} << place;
    }
    return 0;
  }

  std::weak_ptr<Engine> engine;
  const std::vector<EngineDevice> devices;
  SliceCosts costs;
  std::vector<uint64_t> images;
  PlaceSet failed = 0;  // places whose boxes are wrong
};

// Not thread-safe. References stay valid while their engine lives.
class ModelDevicesTable {
 public:
  ModelDevices& Of(const std::shared_ptr<Engine>& engine) {
    const auto found = models_.find(engine.get());
    if (found != models_.end() && !found->second.engine.expired()) return found->second;
    // Another engine may live where an unloaded one did.
    std::erase_if(models_, [](const auto& entry) { return entry.second.engine.expired(); });
    return models_.try_emplace(engine.get(), engine).first->second;
  }

 private:
  std::unordered_map<const Engine*, ModelDevices> models_;
};

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_MODEL_DEVICES_H_
