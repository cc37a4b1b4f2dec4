// A folder whose files do not answer, as on a network volume whose server is gone.
#ifndef LATTICE_TEST_FILES_HELD_FOLDER_H_
#define LATTICE_TEST_FILES_HELD_FOLDER_H_

#include <fcntl.h>
#include <poll.h>
#include <sys/fanotify.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <filesystem>
#include <string>
#include <thread>

namespace lattice {

// From its making to its end the kernel asks it before it opens (or reads) a file right in the
// folder, for every process, and it lets them wait, all at a time: for `delay` each, or until its
// end.
class HeldFolder {
 public:
  enum class Call : uint64_t { kOpen = FAN_OPEN_PERM, kRead = FAN_ACCESS_PERM };

  explicit HeldFolder(const std::filesystem::path& folder, Call call = Call::kOpen,
                      std::chrono::milliseconds delay = std::chrono::milliseconds(0))
      : fd_(fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY)) {
    const auto mask = static_cast<uint64_t>(call) | FAN_EVENT_ON_CHILD;
    if (fd_ < 0 || fanotify_mark(fd_, FAN_MARK_ADD, mask, AT_FDCWD, folder.c_str()) != 0) {
      refused_ =
          std::string("only root may hold files up, where the kernel can: ") + std::strerror(errno);
    } else {
      answering_ = std::jthread([this, delay](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          Take();
          if (delay.count() > 0) AnswerBefore(std::chrono::steady_clock::now() - delay);
        }
      });
    }
  }
  ~HeldFolder() {
    if (answering_.joinable()) {
      answering_.request_stop();
      answering_.join();
    }
    if (fd_ >= 0) close(fd_);
    for (const Held& held : held_) close(held.fd);
  }
  HeldFolder(const HeldFolder&) = delete;
  HeldFolder& operator=(const HeldFolder&) = delete;

  // Why nothing is held up; empty when it is.
  const std::string& refused() const { return refused_; }
  // Calls that wait at this moment.
  size_t waiting() const { return waiting_; }

 private:
  struct Held {
    int fd;
    std::chrono::steady_clock::time_point since;
  };

  void Take() {
    pollfd ready{fd_, POLLIN, 0};
    if (poll(&ready, 1, 5) <= 0) return;
    alignas(fanotify_event_metadata) std::array<char, 4096> events;
    auto left = read(fd_, events.data(), events.size());
    const auto* event = reinterpret_cast<const fanotify_event_metadata*>(events.data());
    for (; FAN_EVENT_OK(event, left); event = FAN_EVENT_NEXT(event, left)) {
      held_.push_back({event->fd, std::chrono::steady_clock::now()});
    }
    waiting_ = held_.size();
  }

  void AnswerBefore(std::chrono::steady_clock::time_point since) {
    for (; !held_.empty() && held_.front().since <= since; held_.pop_front()) {
      const fanotify_response answer{held_.front().fd, FAN_ALLOW};
      (void)!write(fd_, &answer, sizeof(answer));
      close(held_.front().fd);
    }
    waiting_ = held_.size();
  }

  const int fd_;
  std::string refused_;
  std::deque<Held> held_;  // the thread's
  std::atomic<size_t> waiting_ = 0;
  std::jthread answering_;
};

}  // namespace lattice

#endif  // LATTICE_TEST_FILES_HELD_FOLDER_H_
