#include "native/files/file_reader.h"

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

using FileResult = Result<FileContent>;

// How often reads without progress are looked for. A read is abandoned when two looks in a row find
// it late: a process that stood still wakes its threads in any order, and the second look gives the
// reader time to report the progress that it could not report before.
constexpr std::chrono::milliseconds kLookEvery{250};

// Guarded by the mutex of the volumes, except `last_progress`; the path never changes.
struct PendingRead {
  explicit PendingRead(FileRequest wanted) : request(std::move(wanted)) {}

  FileRequest request;
  std::atomic<Clock::time_point> last_progress = Clock::now();
  std::optional<size_t> root;  // that it uses
  bool asking = false;         // in may_take, whose time is not the volume's
  bool late = false;           // at the last look
  bool abandoned = false;
};

// Answers that are given once the lock is released.
using Answers = std::vector<std::pair<std::function<void(FileResult)>, Status>>;

void Give(Answers& answers) {
  for (auto& [on_read, status] : std::exchange(answers, {})) on_read(std::move(status));
}

}  // namespace

// Shared by the callers and the threads that read; lives as long as the last of them.
class FileReader::Volumes : public std::enable_shared_from_this<Volumes> {
 public:
  Volumes(RootedFiles files, VolumePatience patience, size_t most_threads)
      : files_(std::move(files)),
        without_progress_(patience.without_progress),
        most_threads_(most_threads),
        roots_(files_.root_count(), patience),
        watcher_([this] { Watch(); }) {}

  void Read(FileRequest request) {
    auto read = std::make_unique<PendingRead>(std::move(request));
    {
      const std::lock_guard lock(mutex_);
      if (!closing_) {
        queue_.push_back(std::move(read));
        work_.notify_one();
        AddThreads();
        return;
      }
    }
    read->request.on_read(Status(StatusCode::kShuttingDown, "The files are closed."));
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
      ended_.wait(lock, [this] { return over(); });
      ended_.notify_all();
    }
    const std::lock_guard joining(joining_);
    if (watcher_.joinable()) watcher_.join();
  }

 private:
  class Observer : public ReadObserver {
   public:
    Observer(Volumes* volumes, PendingRead* read) : volumes_(*volumes), read_(*read) {}
    bool EnterRoot(size_t root) override { return volumes_.EnterRoot(root, &read_); }
    void Progress() override { read_.last_progress = Clock::now(); }
    bool TakeBytes(size_t bytes) override { return volumes_.TakeBytes(bytes, &read_); }

   private:
    Volumes& volumes_;
    PendingRead& read_;
  };

  bool over() const { return closing_ && threads_ == 0 && queue_.empty(); }

  // Called with the lock held: threads for the files that wait, as far as the system has them.
  void AddThreads() {
    while (queue_.size() > idle_ && threads_ < most_threads_) {
      try {
        std::thread([self = shared_from_this()] { self->ReadLoop(); }).detach();
      } catch (const std::system_error&) {
        break;
      }
      ++idle_;
      ++threads_;
    }
  }

  // Called with the lock held, by the watcher: a caller may hold locks that `on_read` takes.
  void RefuseWithoutThreads(Answers* answers) {
    if (threads_ > 0 || queue_.empty()) return;
    for (const auto& read : queue_) {
      answers->emplace_back(
          std::move(read->request.on_read),
          Status(StatusCode::kOverloaded, "No thread could be started to read the file."));
    }
    queue_.clear();
    ended_.notify_all();
  }

  void ReadLoop() {
    (void)NameThread("lattice-read");
    std::unique_lock lock(mutex_);
    while (true) {
      work_.wait(lock, [this] { return closing_ || !queue_.empty(); });
      --idle_;
      if (queue_.empty()) break;
      const std::unique_ptr<PendingRead> read = std::move(queue_.front());
      queue_.pop_front();
      read->last_progress = Clock::now();
      in_work_.insert(read.get());
      lock.unlock();
      auto content = ReadNow(read.get());
      lock.lock();
      if (read->root) roots_.Answered(*read->root);
      if (read->abandoned) {
        roots_.EndAbandoned(*read->root);
        lock.unlock();
        return;  // no longer counted in threads_
      }
      in_work_.erase(read.get());
      lock.unlock();
      // Outside the lock, and so is the end of what the function holds.
      std::exchange(read->request, {}).on_read(std::move(content));
      lock.lock();
      ++idle_;
    }
    --threads_;
    ended_.notify_all();
  }

  FileResult ReadNow(PendingRead* read) {
    try {
      Observer observer(this, read);
      return files_.Read(read->request.path, &observer);
    } catch (const std::exception&) {
      return Status(StatusCode::kOverloaded, "There is not enough memory to read the file.");
    }
  }

  bool EnterRoot(size_t root, PendingRead* read) {
    const std::lock_guard lock(mutex_);
    // An abandoned read stays counted in its root until its thread returns.
    if (read->abandoned) return false;
    if (read->root) roots_.Answered(*read->root);
    read->root.reset();
    if (!roots_.MayEnter(root, Clock::now())) return false;
    read->root = root;
    return true;
  }

  bool TakeBytes(size_t bytes, PendingRead* read) {
    {
      const std::lock_guard lock(mutex_);
      if (read->abandoned) return false;
      read->asking = true;
    }
    const bool wanted = !read->request.may_take || read->request.may_take(bytes);
    const std::lock_guard lock(mutex_);
    read->last_progress = Clock::now();
    read->asking = false;
    return wanted;
  }

  void Watch() {
    (void)NameThread("lattice-watch");
    Answers answers;
    std::unique_lock lock(mutex_);
    while (!over()) {
      ended_.wait_for(lock, kLookEvery, [this] { return over(); });
      AbandonLateReads(&answers);
      AddThreads();
      RefuseWithoutThreads(&answers);
      lock.unlock();
      Give(answers);
      lock.lock();
    }
  }

  // Called with the lock held.
  void AbandonLateReads(Answers* answers) {
    const Clock::time_point limit = Clock::now() - without_progress_;
    std::erase_if(in_work_, [&](PendingRead* read) {
      const bool late = read->root && !read->asking && read->last_progress.load() <= limit;
      const bool abandoned = late && read->late;
      read->late = late;
      if (abandoned) Abandon(read, answers);
      return abandoned;
    });
  }

  void Abandon(PendingRead* read, Answers* answers) {
    read->abandoned = true;
    --threads_;
    roots_.Abandon(*read->root, Clock::now());
    read->request.may_take = nullptr;  // what it holds is freed now, not when the volume answers
    answers->emplace_back(std::move(read->request.on_read), files_.Unavailable(*read->root));
    ended_.notify_all();
  }

  const RootedFiles files_;
  const Clock::duration without_progress_;
  const size_t most_threads_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable ended_;
  std::deque<std::unique_ptr<PendingRead>> queue_;
  std::unordered_set<PendingRead*> in_work_;  // without the abandoned ones
  RootHealth roots_;
  size_t idle_ = 0;     // threads that look at the queue next
  size_t threads_ = 0;  // without those of abandoned reads
  bool closing_ = false;
  std::mutex joining_;
  std::thread watcher_;  // last: starts when everything else is there
};

FileReader::FileReader(RootedFiles files, VolumePatience patience, size_t most_threads)
    : volumes_(std::make_shared<Volumes>(std::move(files), patience, most_threads)) {}

FileReader::~FileReader() { volumes_->Close(); }

void FileReader::Read(FileRequest request) const { volumes_->Read(std::move(request)); }

std::vector<size_t> FileReader::HangingRoots() const { return volumes_->HangingRoots(); }

void FileReader::Close() const { volumes_->Close(); }

}  // namespace lattice
