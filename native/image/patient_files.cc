#include "native/image/patient_files.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "native/base/stopwatch.h"
#include "native/base/thread_class.h"

namespace lattice {
namespace {

using FileBytes = Result<std::vector<uint8_t>>;

// A process that stood still wakes its threads in any order: the reader has this long to give the
// sign that it could not give before.
constexpr std::chrono::milliseconds kGrace{250};

// One file on its way. Guarded by the volumes' mutex, but for `path` and `last_sign`.
struct PendingRead {
  explicit PendingRead(std::string file) : path(std::move(file)) {}

  const std::string path;
  std::atomic<Clock::time_point> last_sign = Clock::now();
  std::optional<size_t> root;     // that it is in
  std::optional<size_t> left_in;  // where it was when its caller gave it up
  std::optional<FileBytes> result;
  std::condition_variable over;
};
using PendingReadPtr = std::shared_ptr<PendingRead>;

struct RootState {
  bool hangs = false;
  int left = 0;  // reads that nobody waits for and that have not come back
  Clock::time_point next_trial;
  Clock::duration trial_pause{};
};

class Visits : public RootVisits {
 public:
  Visits(std::atomic<Clock::time_point>* last_sign, std::function<bool(size_t)> may_enter)
      : last_sign_(last_sign), may_enter_(std::move(may_enter)) {}
  bool Enter(size_t root) override { return may_enter_(root); }
  void Step() override { *last_sign_ = Clock::now(); }

 private:
  std::atomic<Clock::time_point>* const last_sign_;
  const std::function<bool(size_t)> may_enter_;
};

}  // namespace

// What callers and the threads that read share; lives as long as the last of them.
class PatientFiles::Volumes : public std::enable_shared_from_this<Volumes> {
 public:
  Volumes(RootedFiles files, VolumePatience patience)
      : files_(std::move(files)), patience_(patience), roots_(files_.root_count()) {}

  FileBytes Read(const std::string& path) {
    const auto read = std::make_shared<PendingRead>(path);
    std::unique_lock lock(mutex_);
    queue_.push_back(read);
    // One that was woken or started counts as idle until it takes a file: no more are started.
    if (queue_.size() <= idle_) {
      work_.notify_one();
    } else if (!StartThread([self = shared_from_this()] { self->ReadLoop(); })) {
      std::erase(queue_, read);
      return Status(StatusCode::kInternalError, "No thread could be started to read the file.");
    } else {
      ++idle_;
      ++threads_;
    }
    for (bool silent = false; !read->result;) {
      const Clock::time_point given_up = read->last_sign.load() + patience_.without_sign;
      const bool late = Clock::now() >= given_up && read->root;
      if (late && silent) return Leave(read.get());
      silent = late;
      if (late) {
        read->over.wait_for(lock, kGrace);
      } else {
        read->over.wait_until(lock, std::max(given_up, Clock::now() + kGrace));
      }
    }
    return *std::move(read->result);
  }

  std::vector<size_t> HangingRoots() {
    const std::lock_guard lock(mutex_);
    std::vector<size_t> hanging;
    for (size_t root = 0; root < roots_.size(); ++root) {
      if (roots_[root].hangs) hanging.push_back(root);
    }
    return hanging;
  }

  // Ends the threads but for those of reads that were left behind.
  void Close() {
    std::unique_lock lock(mutex_);
    closing_ = true;
    work_.notify_all();
    ended_.wait(lock, [this] { return threads_ == 0; });
  }

 private:
  static bool StartThread(std::function<void()> work) {
    try {
      std::thread(std::move(work)).detach();
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }

  void ReadLoop() {
    (void)NameThread("lattice-read");
    std::unique_lock lock(mutex_);
    while (true) {
      work_.wait(lock, [this] { return closing_ || !queue_.empty(); });
      --idle_;
      if (queue_.empty()) break;
      const PendingReadPtr read = std::move(queue_.front());
      queue_.pop_front();
      read->last_sign = Clock::now();
      lock.unlock();
      auto bytes = ReadNow(read->path, &read->last_sign,
                           [this, &read](size_t root) { return Enter(root, read.get()); });
      lock.lock();
      if (read->root) roots_[*read->root].hangs = false;
      if (read->left_in) {
        --roots_[*read->left_in].left;
        return;  // this thread was counted out when its read was left
      }
      read->result = std::move(bytes);
      read->over.notify_one();
      ++idle_;
    }
    --threads_;
    ended_.notify_all();
  }

  FileBytes ReadNow(const std::string& path, std::atomic<Clock::time_point>* last_sign,
                    std::function<bool(size_t)> may_enter) const {
    try {
      Visits visits(last_sign, std::move(may_enter));
      return files_.Read(path, &visits);
    } catch (const std::exception&) {
      return Status(StatusCode::kInternalError, "The file could not be read: out of memory.");
    }
  }

  bool Enter(size_t root, PendingRead* read) {
    const std::lock_guard lock(mutex_);
    // It came through the root before.
    if (read->root) roots_[*read->root].hangs = false;
    read->root.reset();
    if (read->left_in) return false;
    if (roots_[root].hangs || roots_[root].left >= patience_.most_left) {
      TryAgain(root, read->path);
      return false;
    }
    read->root = root;
    return true;
  }

  // Called with the lock held: has somebody read the file that is wanted now, if it is time.
  void TryAgain(size_t root, const std::string& path) {
    RootState& state = roots_[root];
    if (Clock::now() < state.next_trial || state.left >= patience_.most_left) return;
    state.trial_pause = std::min<Clock::duration>(2 * state.trial_pause, patience_.last_trial);
    state.next_trial = Clock::now() + state.trial_pause;
    ++state.left;
    const auto trial = [self = shared_from_this(), root, path] {
      (void)NameThread("lattice-read");
      std::atomic<Clock::time_point> unused;
      bool came_there = false;
      (void)self->ReadNow(path, &unused, [&](size_t entered) {
        came_there = came_there || entered == root;
        return true;
      });
      const std::lock_guard lock(self->mutex_);
      --self->roots_[root].left;
      if (came_there) self->roots_[root].hangs = false;
    };
    if (!StartThread(trial)) --state.left;
  }

  // Called with the lock held, after too long without a sign.
  Status Leave(PendingRead* read) {
    read->left_in = read->root;
    --threads_;
    RootState& state = roots_[*read->root];
    ++state.left;
    if (!state.hangs) {
      state.hangs = true;
      state.trial_pause = patience_.first_trial / 2;
      state.next_trial = Clock::now() + patience_.first_trial;
    }
    return files_.Unavailable(*read->root);
  }

  const RootedFiles files_;
  const VolumePatience patience_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable ended_;
  std::deque<PendingReadPtr> queue_;
  std::vector<RootState> roots_;
  size_t idle_ = 0;     // threads that look at the queue next
  size_t threads_ = 0;  // without those whose read was left behind
  bool closing_ = false;
};

PatientFiles::PatientFiles(RootedFiles files, VolumePatience patience)
    : volumes_(std::make_shared<Volumes>(std::move(files), patience)) {}

PatientFiles::~PatientFiles() { volumes_->Close(); }

Result<std::vector<uint8_t>> PatientFiles::Read(const std::string& path) const {
  return volumes_->Read(path);
}

std::vector<size_t> PatientFiles::HangingRoots() const { return volumes_->HangingRoots(); }

}  // namespace lattice
