#include "native/base/watched_call.h"

#include <sysexits.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "native/base/crash_marker.h"
#include "native/base/thread_class.h"

namespace lattice {

// Never destroyed: its thread runs until the process has ended.
class WatchedCall::Watch {
 public:
  static Watch& Get() {
    static auto* const watch = new Watch();
    return *watch;
  }

  void Add(WatchedCall* call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(call);
    if (calls_.size() == 1) begun_.notify_one();
  }

  void Remove(WatchedCall* call) {
    const std::lock_guard lock(mutex_);
    std::erase(calls_, call);
  }

 private:
  // A look adds one tick to each call, however long ago the last look was.
  static constexpr std::chrono::milliseconds kTick{100};

  Watch() {
    std::thread([this] { Loop(); }).detach();
  }

  void Loop() {
    (void)NameThread("lattice-device");
    while (true) {
      {
        std::unique_lock lock(mutex_);
        begun_.wait(lock, [this] { return !calls_.empty(); });
      }
      std::this_thread::sleep_for(kTick);
      const std::lock_guard lock(mutex_);
      for (WatchedCall* call : calls_) {
        call->ran_ += kTick;
        if (call->ran_ > call->limit_) EndProcess(*call);
      }
    }
  }

  [[noreturn]] static void EndProcess(const WatchedCall& call) {
    CrashMarker::WriteAll();
    std::ostringstream sentence;
    sentence << "The GPU did not answer for " << Milliseconds(call.limit_) / 1e3 << " s (while "
             << call.doing_ << "): this process ends, to be started again. If it happens again, "
             << "look for Xid errors of the driver in the kernel's log.\n";
    const std::string text = sentence.str();
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    _exit(EX_UNAVAILABLE);
  }

  std::mutex mutex_;
  std::condition_variable begun_;
  std::vector<WatchedCall*> calls_;
};

WatchedCall::WatchedCall(const char* doing, Clock::duration limit) : doing_(doing), limit_(limit) {
  Watch::Get().Add(this);
}

WatchedCall::~WatchedCall() { Watch::Get().Remove(this); }

}  // namespace lattice
