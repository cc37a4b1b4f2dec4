#include "native/base/crash_marker.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>

namespace lattice {
namespace {

constexpr std::array<int, 5> kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr size_t kCells = 1024;
constexpr size_t kMarkers = 16;
constexpr size_t kSignalStackBytes = 64 * 1024;
constexpr int kFree = -1;
constexpr int kClaimed = -2;

// A signal handler may read atomics and make system calls, and little else: hence fixed tables, and
// thread ids instead of thread-local variables, whose first use in a thread may allocate.
struct Cell {
  std::atomic<int> fd{kFree};
  std::atomic<pid_t> thread{0};
  std::atomic<uint64_t> id{0};
};
std::array<Cell, kCells> cells;
std::atomic<size_t> next_cell{0};
std::array<std::atomic<int>, kMarkers> markers;  // fd + 1; 0 = free
std::array<struct sigaction, kSignals.size()> previous;

pid_t ThreadId() { return static_cast<pid_t>(syscall(SYS_gettid)); }

void WriteId(int fd, uint64_t id) {
  std::array<char, 24> text;
  size_t at = text.size();
  text[--at] = '\n';
  do {
    text[--at] = static_cast<char>('0' + id % 10);
    id /= 10;
  } while (id != 0);
  // Nothing can be done about a failed write while the process dies.
  [[maybe_unused]] const ssize_t written = write(fd, text.data() + at, text.size() - at);
}

void WriteMarker(int fd, pid_t thread) {
  uint64_t own = 0;
  size_t count = 0;
  for (const Cell& cell : cells) {
    if (cell.fd.load() == fd && cell.thread.load() == thread) {
      own = cell.id.load();
      ++count;
    }
  }
  WriteId(fd, count == 1 ? own : 0);
  for (const Cell& cell : cells) {
    if (cell.fd.load() == fd) WriteId(fd, cell.id.load());
  }
}

void OnCrash(int signal, siginfo_t* info, void*) {
  CrashMarker::WriteAll();
  for (size_t i = 0; i < kSignals.size(); ++i) {
    if (kSignals[i] == signal) sigaction(signal, &previous[i], nullptr);
  }
  // A fault happens again when the instruction is retried; a signal that was sent has to be sent
  // again.
  if (info->si_code <= 0) raise(signal);
}

void InstallHandlers() {
  struct sigaction action {};
  action.sa_sigaction = OnCrash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &previous[i]);
}

}  // namespace

Result<std::unique_ptr<CrashMarker>> CrashMarker::Open(const std::string& path) {
  if (path.empty()) return std::unique_ptr<CrashMarker>(new CrashMarker(-1, 0));
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return Status(StatusCode::kInternalError, "The crash marker file cannot be written.");
  for (size_t place = 0; place < kMarkers; ++place) {
    int expected = 0;
    if (markers[place].compare_exchange_strong(expected, fd + 1)) {
      static std::once_flag installed;
      std::call_once(installed, InstallHandlers);
      return std::unique_ptr<CrashMarker>(new CrashMarker(fd, place));
    }
  }
  close(fd);
  return Status(StatusCode::kInternalError, "Too many cores with a crash marker live at once.");
}

CrashMarker::~CrashMarker() {
  if (fd_ < 0) return;
  markers[place_].store(0);
  close(fd_);
}

void CrashMarker::WriteAll() {
  const pid_t thread = ThreadId();
  for (std::atomic<int>& marker : markers) {
    const int fd =
        marker.exchange(0) - 1;  // taken out, so that two crashing threads do not write twice
    if (fd >= 0) WriteMarker(fd, thread);
  }
}

CrashMarker::InHand::InHand(const CrashMarker& marker, std::span<const uint64_t> ids) {
  if (marker.fd_ < 0) return;
  cells_.reserve(ids.size());
  const pid_t thread = ThreadId();
  for (const uint64_t id : ids) {
    for (size_t tried = 0; tried < kCells; ++tried) {
      const size_t place = next_cell.fetch_add(1, std::memory_order_relaxed) % kCells;
      int expected = kFree;
      if (!cells[place].fd.compare_exchange_strong(expected, kClaimed)) continue;
      cells[place].thread.store(thread);
      cells[place].id.store(id);
      cells[place].fd.store(marker.fd_);  // last: from here on the handler sees the cell
      cells_.push_back(place);
      break;
    }
  }
}

CrashMarker::InHand::~InHand() {
  for (const size_t place : cells_) cells[place].fd.store(kFree);
}

SignalStack::SignalStack() : memory_(new char[kSignalStackBytes]) {
  stack_t stack{};
  stack.ss_sp = memory_.get();
  stack.ss_size = kSignalStackBytes;
  sigaltstack(&stack, nullptr);
}

SignalStack::~SignalStack() {
  stack_t stack{};
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, nullptr);
}

}  // namespace lattice
