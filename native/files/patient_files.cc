#include "native/files/patient_files.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <unordered_set>
#include <utility>

#include "native/base/stopwatch.h"
#include "native/base/thread_class.h"

namespace lattice {
namespace {

using FileBytes = Result<std::vector<uint8_t>>;

// How often silent reads are looked for. One is given up that was too long silent twice in a row: a
// process that stood still wakes its threads in any order, and the reader has until the second look
// to give the sign that it could not give before.
constexpr std::chrono::milliseconds kLook{250};
// After so long without a request nobody looks any more.
constexpr std::chrono::seconds kQuiet{5};
// So many threads are started at once. Fast reads need no more, however many come together; others
// are started when a file waits for longer than this.
constexpr size_t kQuickThreads = 4;
constexpr std::chrono::milliseconds kLongWait{2};

// One file on its way. Guarded by the volumes' mutex, but for `last_sign`; the path never changes.
struct PendingRead {
  explicit PendingRead(FileRequest wanted) : request(std::move(wanted)) {}

  FileRequest request;
  std::atomic<Clock::time_point> last_sign = Clock::now();
  std::optional<size_t> root;     // that it is in
  bool asking = false;            // whether the file may be taken: not the volume's time
  bool silent = false;            // for too long, at the last look
  std::optional<size_t> left_in;  // where it was when it was given up
};

// Answers to requests, given once the lock is let go.
class Answers {
 public:
  void Add(PendingRead* read, Status status) {
    answers_.emplace_back(std::move(read->request.on_read), std::move(status));
  }
  void Give() {
    for (auto& [on_read, status] : std::exchange(answers_, {})) on_read(std::move(status));
  }

 private:
  std::vector<std::pair<std::function<void(FileBytes)>, Status>> answers_;
};

bool StartThread(std::function<void()> work) {
  try {
    std::thread(std::move(work)).detach();
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

}  // namespace

// What callers and the threads that read share; lives as long as the last of them.
class PatientFiles::Volumes : public std::enable_shared_from_this<Volumes> {
 public:
  Volumes(RootedFiles files, VolumePatience patience, size_t most_threads)
      : files_(std::move(files)),
        without_sign_(patience.without_sign),
        most_threads_(most_threads),
        roots_(files_.root_count(), patience),
        watcher_([this] { Watch(); }) {}

  void Read(FileRequest request) {
    auto read = std::make_unique<PendingRead>(std::move(request));
    std::unique_lock lock(mutex_);
    if (closing_) {
      lock.unlock();
      read->request.on_read(Status(StatusCode::kShuttingDown, "The files are closed."));
      return;
    }
    queue_.push_back(std::move(read));
    last_asked_ = Clock::now();
    bool wake_watcher = std::exchange(dozing_, false);
    if (queue_.size() <= idle_) {
      work_.notify_one();
    } else if (threads_ >= std::min(kQuickThreads, most_threads_) || !AddThread()) {
      wake_watcher = wake_watcher || add_at_ == Clock::time_point::max();
      add_at_ = std::min(add_at_, last_asked_ + kLongWait);
    }
    if (wake_watcher) watch_.notify_one();
  }

  std::vector<size_t> HangingRoots() {
    const std::lock_guard lock(mutex_);
    return roots_.Hanging();
  }

  void Close() {
    {
      std::unique_lock lock(mutex_);
      closing_ = true;
      work_.notify_all();
      watch_.notify_one();
      ended_.wait(lock, [this] { return over(); });
    }
    const std::lock_guard joining(joining_);
    if (watcher_.joinable()) watcher_.join();
  }

 private:
  // Of a read that is watched.
  class Visits : public RootVisits {
   public:
    Visits(Volumes* volumes, PendingRead* read) : volumes_(*volumes), read_(*read) {}
    bool Enter(size_t root) override { return volumes_.Enter(root, &read_); }
    void Step() override { read_.last_sign = Clock::now(); }
    bool Take(size_t bytes) override { return volumes_.Take(bytes, &read_); }

   private:
    Volumes& volumes_;
    PendingRead& read_;
  };
  // Of a read that nobody waits for: whether it came into a root.
  class Trial : public RootVisits {
   public:
    explicit Trial(size_t root) : root_(root) {}
    bool Enter(size_t root) override {
      came_there_ = came_there_ || root == root_;
      return true;
    }
    void Step() override {}
    bool Take(size_t /*bytes*/) override { return true; }
    bool came_there() const { return came_there_; }

   private:
    const size_t root_;
    bool came_there_ = false;
  };

  bool over() const { return closing_ && threads_ == 0 && queue_.empty(); }

  // Called with the lock held.
  bool AddThread() {
    if (!StartThread([self = shared_from_this()] { self->ReadLoop(); })) return false;
    ++idle_;
    ++threads_;
    return true;
  }

  void ReadLoop() {
    (void)NameThread("lattice-read");
    std::unique_lock lock(mutex_);
    while (true) {
      work_.wait(lock, [this] { return closing_ || !queue_.empty(); });
      --idle_;
      if (queue_.empty()) break;
      std::unique_ptr<PendingRead> read = std::move(queue_.front());
      queue_.pop_front();
      read->last_sign = Clock::now();
      in_hand_.insert(read.get());
      lock.unlock();
      Visits visits(this, read.get());
      auto bytes = ReadNow(read->request.path, visits);
      lock.lock();
      if (read->root) roots_.Answered(*read->root);
      if (read->left_in) {
        roots_.EndLeft(*read->left_in);
        lock.unlock();
        return;  // this thread was counted out when its read was left
      }
      in_hand_.erase(read.get());
      lock.unlock();
      read->request.on_read(std::move(bytes));
      read.reset();  // with what its functions hold: not under the lock
      lock.lock();
      ++idle_;
    }
    --threads_;
    ended_.notify_all();
    watch_.notify_one();
  }

  FileBytes ReadNow(const std::string& path, RootVisits& visits) const {
    try {
      return files_.Read(path, &visits);
    } catch (const std::exception&) {
      return Status(StatusCode::kInternalError, "The file could not be read: out of memory.");
    }
  }

  bool Enter(size_t root, PendingRead* read) {
    const std::lock_guard lock(mutex_);
    // It came through the root before.
    if (read->root) roots_.Answered(*read->root);
    read->root.reset();
    if (read->left_in) return false;
    if (!roots_.MayEnter(root)) {
      TryAgain(root, read->request.path);
      return false;
    }
    read->root = root;
    return true;
  }

  bool Take(size_t bytes, PendingRead* read) {
    {
      const std::lock_guard lock(mutex_);
      if (read->left_in) return false;
      read->asking = true;
    }
    const bool wanted = !read->request.may_take || read->request.may_take(bytes);
    const std::lock_guard lock(mutex_);
    read->last_sign = Clock::now();
    read->asking = false;
    return wanted;
  }

  // Called with the lock held: has somebody read the file that is wanted now, if it is time.
  void TryAgain(size_t root, const std::string& path) {
    if (!roots_.BeginTrial(root, Clock::now())) return;
    const auto trial = [self = shared_from_this(), root, path] {
      (void)NameThread("lattice-read");
      Trial visits(root);
      (void)self->ReadNow(path, visits);
      const std::lock_guard lock(self->mutex_);
      self->roots_.EndLeft(root);
      if (visits.came_there()) self->roots_.Answered(root);
    };
    if (!StartThread(trial)) roots_.EndLeft(root);
  }

  void Watch() {
    (void)NameThread("lattice-watch");
    std::unique_lock lock(mutex_);
    Clock::time_point look_at = Clock::now() + kLook;
    Answers answers;
    while (!over()) {
      if (in_hand_.empty() && queue_.empty() && Clock::now() > last_asked_ + kQuiet) {
        dozing_ = true;
        watch_.wait(lock);
        continue;
      }
      watch_.wait_until(lock, std::min(add_at_, look_at));
      if (Clock::now() >= look_at) {
        look_at = Clock::now() + kLook;
        if (LeaveSilentReads(&answers)) add_at_ = Clock::now();
      }
      if (Clock::now() >= add_at_) AddThreads(&answers);
      lock.unlock();
      answers.Give();
      lock.lock();
    }
  }

  // Called with the lock held: threads for the files that wait, as far as the system gives them.
  void AddThreads(Answers* answers) {
    add_at_ = Clock::time_point::max();
    while (queue_.size() > idle_ && threads_ < most_threads_ && AddThread()) {
    }
    if (threads_ > 0) return;
    for (const auto& read : queue_) {
      answers->Add(read.get(),
                   {StatusCode::kInternalError, "No thread could be started to read the file."});
    }
    queue_.clear();
    ended_.notify_all();
  }

  // Called with the lock held; whether there were any.
  bool LeaveSilentReads(Answers* answers) {
    const Clock::time_point given_up = Clock::now() - without_sign_;
    return std::erase_if(in_hand_, [&](PendingRead* read) {
             const bool late = read->root && !read->asking && read->last_sign.load() <= given_up;
             if (late && read->silent) {
               Leave(read, answers);
               return true;
             }
             read->silent = late;
             return false;
           }) > 0;
  }

  void Leave(PendingRead* read, Answers* answers) {
    const size_t root = *read->root;
    read->left_in = root;
    --threads_;
    roots_.Leave(root, Clock::now());
    read->request.may_take = nullptr;  // what it holds need not wait for the volume
    answers->Add(read, files_.Unavailable(root));
    ended_.notify_all();
  }

  const RootedFiles files_;
  const Clock::duration without_sign_;
  const size_t most_threads_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable watch_;
  std::condition_variable ended_;
  std::deque<std::unique_ptr<PendingRead>> queue_;
  std::unordered_set<PendingRead*> in_hand_;  // without those left behind
  RootHealth roots_;
  size_t idle_ = 0;     // threads that look at the queue next
  size_t threads_ = 0;  // without those whose read was left behind
  Clock::time_point last_asked_{};
  Clock::time_point add_at_ = Clock::time_point::max();  // when the watcher adds threads
  bool dozing_ = true;                                   // the watcher, until it is woken
  bool closing_ = false;
  std::mutex joining_;
  std::thread watcher_;  // last: starts when everything else is there
};

PatientFiles::PatientFiles(RootedFiles files, VolumePatience patience, size_t most_threads)
    : volumes_(std::make_shared<Volumes>(std::move(files), patience, most_threads)) {}

PatientFiles::~PatientFiles() { volumes_->Close(); }

void PatientFiles::Read(FileRequest request) const { volumes_->Read(std::move(request)); }

std::vector<size_t> PatientFiles::HangingRoots() const { return volumes_->HangingRoots(); }

void PatientFiles::Close() const { volumes_->Close(); }

}  // namespace lattice
