#include "native/base/thread_class.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace lattice {
namespace {

constexpr size_t kLongestName = 15;

std::string Cut(std::string_view name) { return std::string(name.substr(0, kLongestName)); }

std::string NameOf(const std::filesystem::path& task) {
  std::ifstream file(task / "comm");
  std::string name;
  std::getline(file, name);  // empty when the thread has ended meanwhile
  return name;
}

bool MakeIdleClass(const std::string& thread) {
  pid_t id = 0;
  const auto parsed = std::from_chars(thread.data(), thread.data() + thread.size(), id);
  const sched_param parameters{};
  return parsed.ec == std::errc() && sched_setscheduler(id, SCHED_IDLE, &parameters) == 0;
}

}  // namespace

void NameThread(std::string_view name) {
  (void)pthread_setname_np(pthread_self(), Cut(name).c_str());
}

bool LowerThread(int nice) {
  const auto thread = static_cast<id_t>(syscall(SYS_gettid));
  const int now = getpriority(PRIO_PROCESS, thread);
  return setpriority(PRIO_PROCESS, thread, now + nice) == 0;
}

int MakeThreadsIdleClass(std::string_view name) {
  const std::string wanted = Cut(name);
  int reached = 0;
  std::error_code error;
  std::filesystem::directory_iterator tasks("/proc/self/task", error);
  const std::filesystem::directory_iterator end;
  for (; !error && tasks != end; tasks.increment(error)) {
    if (NameOf(tasks->path()) != wanted) continue;
    if (MakeIdleClass(tasks->path().filename().string())) ++reached;
  }
  return reached;
}

}  // namespace lattice
