#include "native/gpu_monitor/gpu_monitor.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "native/base/stopwatch.h"
#include "native/base/thread_class.h"
#include "native/gpu_monitor/nvml_library.h"

namespace lattice {
namespace {

using std::chrono::milliseconds;

// A driver is installed or repaired by people: no need to look for it every second.
constexpr int kRetryIntervals = 30;
constexpr milliseconds kFarewell{200};

std::string OverdueSentence(Clock::duration waited) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(waited).count();
  return "The driver has not answered for " + std::to_string(seconds) + " s.";
}

}  // namespace

struct GpuMonitor::State {
  explicit State(GpuMonitorOptions given) : options(std::move(given)) {}

  // False when the monitor ends.
  bool Sleep(milliseconds duration) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, duration, [this] { return stopping; });
    return !stopping;
  }

  const GpuMonitorOptions options;
  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  bool ended = false;
  std::string missing = "The GPUs have not been looked at yet.";
  std::vector<GpuReading> gpus;                          // their ages are reckoned when asked
  std::vector<std::optional<Clock::time_point>> looked;  // when the figures came
  std::optional<Clock::time_point> asking;               // the driver, since then
};

namespace {

// The thread's side. `State` is GpuMonitor's own, so it comes as a parameter.
template <typename State>
class Looker {
 public:
  explicit Looker(State* state) : state_(*state) {}

  void Run() {
    (void)NameThread("lattice-gpus");
    if (!ListPlaces()) return;
    while (true) {
      const bool open = OpenLibrary();
      for (size_t i = 0; open && i < identities_.size(); ++i) LookAt(i);
      const auto wait = state_.options.interval * (open ? 1 : kRetryIntervals);
      if (!state_.Sleep(wait)) return;
    }
  }

 private:
  bool ListPlaces() {
    auto identities = state_.options.identify();
    const std::lock_guard lock(state_.mutex);
    state_.missing = identities.status().message();
    if (!identities.ok()) return false;
    identities_ = *std::move(identities);
    devices_.resize(identities_.size());
    state_.looked.resize(identities_.size());
    for (const GpuIdentity& identity : identities_) {
      GpuReading reading;
      reading.identity = identity;
      reading.reason = "The driver has not been asked yet.";
      state_.gpus.push_back(std::move(reading));
    }
    return true;
  }

  bool OpenLibrary() {
    if (library_ != nullptr) return true;
    Asking(true);
    auto opened = NvmlLibrary::Open(state_.options.library);
    Asking(false);
    if (opened.ok()) {
      library_ = *std::move(opened);
      return true;
    }
    const std::lock_guard lock(state_.mutex);
    for (GpuReading& gpu : state_.gpus) gpu.reason = opened.status().message();
    return false;
  }

  void LookAt(size_t i) {
    GpuFigures figures;
    Asking(true);
    const Status status = Ask(i, &figures);
    Asking(false);
    // A GPU that came back has another handle.
    if (!status.ok()) devices_[i].reset();
    if (status.code() == StatusCode::kGpuLost) figures = {};
    const std::lock_guard lock(state_.mutex);
    state_.gpus[i].figures = std::move(figures);
    state_.gpus[i].reason = status.message();
    state_.looked[i] = Clock::now();
  }

  Status Ask(size_t i, GpuFigures* figures) {
    if (!devices_[i]) {
      auto found = library_->Find(identities_[i].bus_id);
      if (!found.ok()) return found.status();
      devices_[i] = *found;
    }
    return library_->Read(*devices_[i], figures);
  }

  void Asking(bool now) {
    const std::lock_guard lock(state_.mutex);
    state_.asking.reset();
    if (now) state_.asking = Clock::now();
  }

  State& state_;
  std::vector<GpuIdentity> identities_;
  std::vector<std::optional<NvmlDevice>> devices_;
  std::unique_ptr<NvmlLibrary> library_;
};

}  // namespace

GpuMonitor::GpuMonitor(GpuMonitorOptions options)
    : state_(std::make_shared<State>(std::move(options))),
      thread_([state = state_] { Look(state); }) {}

GpuMonitor::~GpuMonitor() {
  std::unique_lock lock(state_->mutex);
  state_->stopping = true;
  state_->changed.notify_all();
  const bool ended = state_->changed.wait_for(lock, kFarewell, [this] { return state_->ended; });
  lock.unlock();
  if (ended) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void GpuMonitor::Look(const std::shared_ptr<State>& state) {
  Looker(state.get()).Run();
  const std::lock_guard lock(state->mutex);
  state->ended = true;
  state->changed.notify_all();
}

GpuReadings GpuMonitor::Latest() const {
  const std::lock_guard lock(state_->mutex);
  const auto now = Clock::now();
  GpuReadings readings{state_->gpus, state_->missing};
  const bool overdue = state_->asking && now - *state_->asking > state_->options.overdue;
  for (size_t i = 0; i < readings.gpus.size(); ++i) {
    GpuReading& gpu = readings.gpus[i];
    if (state_->looked[i]) gpu.age_ms = Milliseconds(now - *state_->looked[i]);
    if (overdue) gpu.reason = OverdueSentence(now - *state_->asking);
    // What CUDA knows anyway.
    if (!gpu.figures.memory_total && gpu.identity.memory_bytes > 0) {
      gpu.figures.memory_total = gpu.identity.memory_bytes;
    }
  }
  return readings;
}

}  // namespace lattice
