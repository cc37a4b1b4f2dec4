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

// A missing driver is installed or repaired by people: no need to look for it every second.
constexpr int kRetryIntervals = 30;
constexpr milliseconds kLongestEnd{200};

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
  // Without its age, which depends on when it is requested.
  Result<GpuReading> reading =
      Status(StatusCode::kGpuUnavailable, "The GPU has not been looked up yet.");
  std::optional<Clock::time_point> read_at;        // when the figures came
  std::optional<Clock::time_point> calling_since;  // while the thread is in the driver
};

namespace {

// What the monitor's thread does. A template because State is private to GpuMonitor.
template <typename State>
class Reader {
 public:
  explicit Reader(State* state) : state_(*state) {}

  void Run() {
    (void)NameThread("lattice-gpus");
    if (!Identify()) return;
    while (true) {
      const bool open = OpenLibrary();
      if (open) Read();
      const auto wait = state_.options.interval * (open ? 1 : kRetryIntervals);
      if (!state_.Sleep(wait)) return;
    }
  }

 private:
  bool Identify() {
    auto identity = state_.options.identify();
    const std::lock_guard lock(state_.mutex);
    if (!identity.ok()) {
      state_.reading = identity.status();
      return false;
    }
    bus_id_ = identity->bus_id;
    state_.reading = GpuReading{*std::move(identity), {}, {}, "The driver was not called yet."};
    return true;
  }

  bool OpenLibrary() {
    if (library_ != nullptr) return true;
    SetCalling(true);
    auto opened = NvmlLibrary::Open(state_.options.library);
    SetCalling(false);
    if (opened.ok()) {
      library_ = *std::move(opened);
      return true;
    }
    const std::lock_guard lock(state_.mutex);
    state_.reading->reason = opened.status().message();
    return false;
  }

  void Read() {
    GpuFigures figures;
    SetCalling(true);
    const Status status = ReadFigures(&figures);
    SetCalling(false);
    // After a reset the GPU has another handle.
    if (!status.ok()) device_.reset();
    if (status.code() == StatusCode::kGpuLost) figures = {};
    const std::lock_guard lock(state_.mutex);
    state_.reading->figures = std::move(figures);
    state_.reading->reason = status.message();
    state_.read_at = Clock::now();
  }

  Status ReadFigures(GpuFigures* figures) {
    if (!device_) {
      auto found = library_->Find(bus_id_);
      if (!found.ok()) return found.status();
      device_ = *found;
    }
    return library_->Read(*device_, figures);
  }

  void SetCalling(bool now) {
    const std::lock_guard lock(state_.mutex);
    state_.calling_since.reset();
    if (now) state_.calling_since = Clock::now();
  }

  State& state_;
  std::string bus_id_;
  std::optional<NvmlDevice> device_;
  std::unique_ptr<NvmlLibrary> library_;
};

}  // namespace

GpuMonitor::GpuMonitor(GpuMonitorOptions options)
    : state_(std::make_shared<State>(std::move(options))),
      thread_([state = state_] { Run(state); }) {}

GpuMonitor::~GpuMonitor() {
  std::unique_lock lock(state_->mutex);
  state_->stopping = true;
  state_->changed.notify_all();
  const bool ended = state_->changed.wait_for(lock, kLongestEnd, [this] { return state_->ended; });
  lock.unlock();
  if (ended) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void GpuMonitor::Run(const std::shared_ptr<State>& state) {
  Reader(state.get()).Run();
  const std::lock_guard lock(state->mutex);
  state->ended = true;
  state->changed.notify_all();
}

Result<GpuReading> GpuMonitor::Latest() const {
  const std::lock_guard lock(state_->mutex);
  if (!state_->reading.ok()) return state_->reading;
  const auto now = Clock::now();
  GpuReading reading = *state_->reading;
  if (state_->read_at) reading.age_ms = Milliseconds(now - *state_->read_at);
  if (state_->calling_since && now - *state_->calling_since > state_->options.overdue) {
    reading.reason = OverdueSentence(now - *state_->calling_since);
  }
  // CUDA gives this one without the management library.
  if (!reading.figures.memory_total && reading.identity.memory_bytes > 0) {
    reading.figures.memory_total = reading.identity.memory_bytes;
  }
  return reading;
}

}  // namespace lattice
